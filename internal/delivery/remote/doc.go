// Package remote makes an attempt from another origin: another region, or a network
// with fixed source addresses. A Sender signs the request and gives the signed request
// to the origin; a Handler there posts the request and returns the outcome.
//
// The origin holds no key and no permission. The message carries one signed request,
// and the answer carries the outcome. The Handler applies the egress policy to the URL
// and to every redirect, and judges every address at the dial, like an attempt here.
//
// # Losses
//
//	nobody ran the message     error with send.ErrNotSent: the endpoint received nothing
//	the answer was lost        any other error: the endpoint may have received the request
//	the answer arrived         the outcome
//
// Package remote knows no Lambda: Invoker is a port.
package remote
