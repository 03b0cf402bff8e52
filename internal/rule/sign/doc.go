// Package sign computes the signatures of requests: the signatures of Standard
// Webhooks (https://www.standardwebhooks.com), with one signature per key during a
// rotation, and the signatures of other contracts, see [Profiles].
//
// The package knows keys and bytes. It does not know where keys are stored or which are
// active, and it does not verify signatures: receivers do.
//
// # Keys
//
// The prefix of a key names the scheme, as specified by Standard Webhooks:
//
//	whsec_<base64>  v1   HMAC-SHA256 under a secret of 24 to 64 decoded bytes
//	whsk_<base64>   v1a  ed25519 under a private key: 32 bytes of seed, or 64 of seed and public key
//	text:<text>     v1   HMAC-SHA256 under the text, a secret from another system
//	whpk_<base64>   v1a  32 bytes of public key, for receivers; cannot sign
//
// Base64 is the standard alphabet with padding.
package sign
