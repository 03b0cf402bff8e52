// Package sign makes the signatures that requests carry: those of Standard
// Webhooks (https://www.standardwebhooks.com), one per key during a rotation,
// and the classic single HMAC header.
//
// It knows keys and bytes; it does not know where keys are kept or which of
// them is active, and it does not verify: that is the receiver's part.
//
// A key's text form names its scheme, as the specification says:
//
//	whsec_<base64>  v1   HMAC-SHA256 under the 24 to 64 bytes that the base64 decodes to
//	whsk_<base64>   v1a  ed25519 under a private key: 32 bytes of seed, or 64 of seed and public key
//	whpk_<base64>   v1a  the 32 bytes of the public key, for receivers; it does not sign
//
// Base64 is the standard alphabet with padding. In both styles of header the
// HMAC key is the decoded bytes, not the text: a receiver of classic
// headers drops "whsec_", decodes the rest and computes
//
//	"sha256=" + hex(HMAC-SHA256(decoded, body))
package sign
