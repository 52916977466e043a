import { defineConfig } from 'orval'

export default defineConfig({
  agro: {
    input: './openapi.json',
    output: { target: './out/orval/api.ts', client: 'fetch', baseUrl: process.env.BASE_URL },
  },
})
