// The package has no types.
declare module 'oidc-provider'
