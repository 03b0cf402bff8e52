// Package hostile attacks the HTTP client that delivers events, with hostile receivers on raw
// sockets. It consists of tests only: each attack is a script for one TCP connection.
//
// # Promises
//
// An attempt ends shortly after the endpoint's timeout, whatever the receiver does.
// The class of the outcome fits the receiver's behavior. The receiver gets one request. No
// byte that it sends gets into the log or into the text of the outcome.
//
// The table of attacks is in the files attacks_*_test.go: stalls and trickles,
// floods and bombs, bad framing, endings, and TLS.
package hostile
