// Package smoke proves a deployment from outside: it makes a receiver of its own
// in the account, sends events of a tenant of its own through the API, looks at
// what AWS runs, and removes what it made. The package knows the API and AWS's
// services, and nothing of Surehook's code. The same checks run on AWS and on an
// emulator.
//
// Every check observes first and judges then. The judge functions are pure:
// observations in, nil or the reason of the failure out.
package smoke
