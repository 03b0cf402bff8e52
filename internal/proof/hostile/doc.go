// Package hostile attacks the client of deliveries with hostile receivers on raw
// sockets. The package is a test: each attack is a script for one TCP connection.
//
// # Promises
//
// An attempt ends shortly after the endpoint's timeout, whatever the receiver does.
// The outcome has the class of the receiver's behavior. The receiver gets one
// request. No byte of the receiver is in the log or in the text of the outcome.
//
// The table of attacks is in the files attacks_*_test.go: stalls and trickles,
// floods and bombs, bad framing, endings, and TLS.
package hostile
