package sign

import (
	"cmp"
	"crypto/sha1" //nolint:gosec // some receivers support nothing else; SignatureProfile.Check warns
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"hash"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"surehook.example/surehook/internal/hook"
)

// Profiles returns the built-in profiles by name, except standard, which has no definition. All but
// classic follow the documentation of a vendor:
//
//   - github: https://docs.github.com/en/webhooks/using-webhooks/validating-webhook-deliveries
//   - shopify: https://shopify.dev/docs/apps/build/webhooks/subscribe/https
//   - slack: https://api.slack.com/authentication/verifying-requests-from-slack
//   - stripe: https://docs.stripe.com/webhooks#verify-manually
//   - svix: https://docs.svix.com/receiving/verifying-payloads/how-manual
func Profiles() map[string]hook.SignatureProfile {
	return map[string]hook.SignatureProfile{
		hook.ProfileClassic: {
			Signed: "{body}", Algorithm: "sha256", Encoding: "hex", Key: "decoded", Prefix: "sha256=",
			Headers: map[string]string{
				"X-Webhook-Id": "{id}", "X-Webhook-Timestamp": "{timestamp}", "X-Webhook-Signature": "{signature}",
				"X-Event-Id": "{id}", "X-Idempotency-Key": "{idempotency_key}",
			},
		},
		"github": {
			Signed: "{body}", Algorithm: "sha256", Encoding: "hex", Key: "text", Prefix: "sha256=",
			Headers: map[string]string{"X-Hub-Signature-256": "{signature}", "X-GitHub-Event": "{type}", "X-GitHub-Delivery": "{id}"},
		},
		"shopify": {
			Signed: "{body}", Algorithm: "sha256", Encoding: "base64", Key: "text",
			Headers: map[string]string{"X-Shopify-Hmac-Sha256": "{signature}", "X-Shopify-Topic": "{type}", "X-Shopify-Webhook-Id": "{id}"},
		},
		"slack": {
			Signed: "v0:{timestamp}:{body}", Algorithm: "sha256", Encoding: "hex", Key: "text", Prefix: "v0=",
			Headers: map[string]string{"X-Slack-Signature": "{signature}", "X-Slack-Request-Timestamp": "{timestamp}"},
		},
		"stripe": {
			Signed: "{timestamp}.{body}", Algorithm: "sha256", Encoding: "hex", Key: "text", Prefix: "v1=", Separator: ",",
			Headers: map[string]string{"Stripe-Signature": "t={timestamp},{signature}"},
		},
		hook.ProfileSvix: {
			Signed: "{id}.{timestamp}.{body}", Algorithm: "sha256", Encoding: "base64", Key: "decoded", Prefix: "v1,", Separator: " ",
			Headers: map[string]string{"Svix-Id": "{id}", "Svix-Timestamp": "{timestamp}", "Svix-Signature": "{signature}"},
		},
	}
}

// Request is what a profile signs and puts into headers.
type Request struct {
	ID             string    // of the event, or of the batch
	Type           string    // of the event
	IdempotencyKey string    // of the event; empty: its id
	Delivery       string    // id of the delivery
	Timestamp      time.Time // of the attempt; signed in whole Unix seconds
	URL            string    // of the endpoint
	Body           []byte    // exactly as sent
}

// Headers calls set for each header of the profiles, in no fixed order within a profile. keys are
// the active keys, newest first.
func Headers(profiles []hook.SignatureProfile, keys []Key, r Request, set func(name, value string)) {
	for _, p := range profiles {
		if p.Name == hook.ProfileStandard {
			set("Webhook-Id", r.ID)
			set("Webhook-Timestamp", strconv.FormatInt(r.Timestamp.Unix(), 10))
			set("Webhook-Signature", Standard(keys, Message{ID: r.ID, Timestamp: r.Timestamp, Body: r.Body}))
			continue
		}
		headersOf(defined(p), keys, r, set)
	}
}

// defined returns the profile with its definition: its own, or that of the built-in profile.
func defined(p hook.SignatureProfile) hook.SignatureProfile {
	if p.Own() {
		return p
	}
	return Profiles()[p.Name]
}

// Known returns the profiles that endpoints may name: the built-in ones, of which standard has no
// definition, and those of the deployment.
func Known(own map[string]hook.SignatureProfile) map[string]hook.SignatureProfile {
	known := Profiles()
	known[hook.ProfileStandard] = hook.SignatureProfile{}
	maps.Copy(known, own)
	return known
}

func headersOf(p hook.SignatureProfile, keys []Key, r Request, set func(name, value string)) {
	seconds := strconv.FormatInt(r.Timestamp.Unix(), 10)
	fill := strings.NewReplacer(
		hook.PlaceID, r.ID, hook.PlaceTimestamp, seconds, hook.PlaceType, r.Type, hook.PlaceDelivery, r.Delivery,
		hook.PlaceIdempotency, cmp.Or(r.IdempotencyKey, r.ID), hook.PlaceSignature, signatureOf(p, keys, r, seconds),
	)
	for name, template := range p.Headers {
		set(name, fill.Replace(template))
	}
}

// Signers says which secrets of an endpoint sign: the new ones alone, old ones as well, or in a
// profile that carries one signature an old one in place of the new one.
type Signers string

// The signers.
const (
	SignedByNew  Signers = "new"
	SignedByBoth Signers = "both"
	SignedByOld  Signers = "old"
)

// SignedBy returns the signers of the endpoint's requests at now.
func SignedBy(e *hook.Endpoint, now time.Time) Signers {
	active, v1 := e.Signing(now), 0
	for _, s := range active {
		if s.Scheme == hook.SchemeV1 {
			v1++
		}
	}
	single := func(p hook.SignatureProfile) bool {
		return p.Name != hook.ProfileStandard && defined(p).Separator == ""
	}
	switch {
	case v1 > 1 && slices.ContainsFunc(e.Profiles, single):
		return SignedByOld
	case slices.ContainsFunc(active, func(s hook.Secret) bool { return !s.ExpiresAt.IsZero() }):
		return SignedByBoth
	}
	return SignedByNew
}

// signatureOf returns one signature for each v1 key, or without a separator only that of the oldest
// one: the receiver has one secret until the overlap of a rotation ends.
func signatureOf(p hook.SignatureProfile, keys []Key, r Request, seconds string) string {
	front, back, _ := strings.Cut(p.Signed, hook.PlaceBody)
	fill := strings.NewReplacer(
		hook.PlaceID, r.ID, hook.PlaceTimestamp, seconds, hook.PlaceURL, r.URL, hook.PlaceMethod, http.MethodPost,
	)
	front, back = fill.Replace(front), fill.Replace(back)
	var all []string
	for _, k := range keys {
		if k.scheme != hook.SchemeV1 {
			continue
		}
		if p.Separator == "" {
			all = all[:0]
		}
		sum := k.mac(hashOf(p.Algorithm), p.Key == "text", []byte(front), r.Body, []byte(back))
		if p.Encoding == "base64" {
			all = append(all, p.Prefix+base64.StdEncoding.EncodeToString(sum))
		} else {
			all = append(all, p.Prefix+hex.EncodeToString(sum))
		}
	}
	return strings.Join(all, p.Separator)
}

func hashOf(algorithm string) func() hash.Hash {
	switch algorithm {
	case "sha512":
		return sha512.New
	case "sha1":
		return sha1.New
	}
	return sha256.New
}

// CheckProfiles returns an error for the first header that two profiles share, and for each header
// that a profile shares with the endpoint's own headers: a request can carry only one of them.
func CheckProfiles(e *hook.Endpoint) (wrong hook.Fields) {
	seen := make(map[string]string)
	for _, p := range e.Profiles {
		headers := defined(p).Headers
		if p.Name == hook.ProfileStandard {
			headers = map[string]string{"Webhook-Id": "", "Webhook-Timestamp": "", "Webhook-Signature": ""}
		}
		for _, name := range slices.Sorted(maps.Keys(headers)) {
			other, ok := seen[hook.HeaderName(name)]
			wrong.Refuse(ok && other != p.Name && len(wrong) == 0, "signature_profiles", "%s and %s both have the header %s", other, p.Name, name)
			seen[hook.HeaderName(name)] = p.Name
		}
	}
	own := slices.Concat(slices.Collect(maps.Keys(e.Headers)), slices.Collect(maps.Keys(e.SealedHeaders)))
	slices.Sort(own)
	for _, name := range slices.Compact(own) {
		profile, ok := seen[hook.HeaderName(name)]
		wrong.Refuse(ok && !hook.ReservedHeader(name), "headers."+name, "is set by the signature profile %s", profile)
	}
	return wrong
}
