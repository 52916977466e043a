import { configOfFolders } from '../../vitest.config.ts'

const { MUTATE_FOLDERS = '', MUTATE_WITHOUT_DATABASE } = process.env

export default await configOfFolders(MUTATE_FOLDERS.split(','), MUTATE_WITHOUT_DATABASE === 'true')
