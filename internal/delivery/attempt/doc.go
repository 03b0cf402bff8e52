// Package attempt makes one attempt: it decrypts the secrets of the endpoint, makes the request
// at the endpoint's origin (here, in another region, or from fixed addresses) and returns its
// outcome. Several events to a coalescing endpoint share a request: see [Together] and [Document].
//
// The package knows no records of attempts, queues or circuits: package deliver decides
// before the attempt, and settles after it.
package attempt
