// Package smoke proves a deployment from outside: it makes a receiver of its own
// in the account, sends events of a tenant of its own through the API, looks at
// what AWS runs, and removes what it made. It knows the client of the API, AWS's services and
// the names that code and infrastructure share, but no other code of Surehook. The same checks run
// on AWS and on an emulator.
//
// Every check first observes and then judges. The judge functions are pure: they
// take observations, and return nil or the reason of the failure.
package smoke
