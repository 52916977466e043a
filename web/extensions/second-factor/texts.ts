/** The second factor of an account. */
export const factor = {
  title: 'Second factor',
  off: 'Off: the password alone opens the account.',
  required: 'Off. Admins of this service need one.',
  on: (codes: number) => `On. ${codes} recovery codes are left.`,
  begin: 'Set it up',
  type: 'Type this secret into your authenticator app, then the code that it shows.',
  secret: 'Secret for the app',
  open: 'Open it in an app on this device',
  confirm: 'Turn it on',
  recovery:
    'It is on. Each of these codes gets you in once, where you have lost the app. They are not shown again.',
  recoveryCodes: 'Recovery codes',
  turnOff: 'Turn it off',
}
