// Package remote makes an attempt from another origin: another region, a network
// with fixed source addresses, or a private network. A Sender signs the request and sends it to
// the origin; a Handler there posts it and returns the outcome.
//
// The origin stores no key and has no permission. The message carries one signed request, with
// the client secret for an access token and the key of a client certificate if the endpoint has
// them; the answer carries the outcome. The Handler applies the egress policy to the URL
// and to every redirect, and judges every address at the dial, like an attempt here.
//
// # Losses
//
//	the message did not run    error with send.ErrNotSent: the endpoint received nothing
//	the answer was lost        any other error: the endpoint may have received the request
//	the answer arrived         the outcome
//
// The package does not know Lambda: Invoker is a port.
package remote
