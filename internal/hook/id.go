package hook

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base32"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/gofrs/uuid/v5"
	"go.jetify.com/typeid"
)

// TenantID names a customer of the user, in 1 to 64 letters, digits, underscores, dots and hyphens.
type TenantID string

// EventID is "evt_" and a TypeID suffix of 26 characters; ids of events without
// an idempotency key sort by the millisecond in which they were accepted.
type EventID string

// EndpointID is "ep_" and 16 random characters.
type EndpointID string

// KeyID is "key_" and 16 random characters. It names an API key without being one.
type KeyID string

const (
	eventPrefix    = "evt"
	endpointPrefix = "ep_"
	deliveryPrefix = "dlv_"
	keyPrefix      = "key_"

	// MaxGeneration bounds how often one event can be replayed to one endpoint.
	MaxGeneration = 9999
)

var (
	tenantPattern         = regexp.MustCompile(`^[A-Za-z0-9_.-]{1,64}$`)
	endpointSuffixPattern = regexp.MustCompile(`^[0-9a-hjkmnp-tv-z]{16}$`)
	crockford             = base32.NewEncoding("0123456789abcdefghjkmnpqrstvwxyz").WithPadding(base32.NoPadding)
)

// NewEventID returns a fresh id made of a UUIDv7.
func NewEventID() (EventID, error) {
	id, err := typeid.WithPrefix(eventPrefix)
	if err != nil {
		return "", fmt.Errorf("make event id: %w", err)
	}
	return EventID(id.String()), nil
}

// KeyedEventID returns the id of the event that tenant posts under the
// idempotency key: the same for the same two, so that writing the event once
// is the idempotency check. It is a UUIDv8 (RFC 9562, section 5.8) of
// SHA-256(tenant, 0, key).
func KeyedEventID(tenant TenantID, key string) EventID {
	sum := sha256.Sum256([]byte(string(tenant) + "\x00" + key))
	id := uuid.UUID(sum[:uuid.Size])
	id.SetVersion(8)
	id.SetVariant(uuid.VariantRFC9562)
	tid, err := typeid.FromUUIDBytesWithPrefix(eventPrefix, id.Bytes())
	if err != nil { // the prefix is a constant and the length is right
		return ""
	}
	return EventID(tid.String())
}

// NewEndpointID returns a fresh random id.
func NewEndpointID() EndpointID { return EndpointID(endpointPrefix + randomSuffix()) }

// NewKeyID returns a fresh random id.
func NewKeyID() KeyID { return KeyID(keyPrefix + randomSuffix()) }

// NewNonce returns 16 random characters that tell one token, or one accepted event, from its duplicates.
func NewNonce() string { return randomSuffix() }

// randomSuffix returns 80 random bits as 16 characters of Crockford's base32.
func randomSuffix() string {
	var b [10]byte
	_, _ = rand.Read(b[:]) // never fails: crypto/rand crashes the program instead
	return crockford.EncodeToString(b[:])
}

// ParseTenantID checks s.
func ParseTenantID(s string) (TenantID, error) {
	if !tenantPattern.MatchString(s) {
		return "", Invalid(FieldError{"tenant", "must be 1 to 64 of A-Z a-z 0-9 _ . -"})
	}
	return TenantID(s), nil
}

// ParseEventID checks s.
func ParseEventID(s string) (EventID, error) {
	id, err := typeid.FromString(s)
	if err != nil || id.Prefix() != eventPrefix {
		return "", NotFound("event")
	}
	return EventID(s), nil
}

// ParseEndpointID checks s.
func ParseEndpointID(s string) (EndpointID, error) {
	if suffix, ok := strings.CutPrefix(s, endpointPrefix); !ok || !endpointSuffixPattern.MatchString(suffix) {
		return "", NotFound("endpoint")
	}
	return EndpointID(s), nil
}

// DeliveryID names one event for one endpoint in one generation. Its parts are
// the keys of everything a delivery is made of, so it needs no lookup table.
type DeliveryID struct {
	Event      EventID
	Endpoint   EndpointID
	Generation int // 1 for the first, one more with each replay
}

// String returns dlv_<event suffix>_<endpoint suffix>_<generation>.
func (d DeliveryID) String() string {
	return deliveryPrefix + strings.TrimPrefix(string(d.Event), eventPrefix+"_") + "_" +
		strings.TrimPrefix(string(d.Endpoint), endpointPrefix) + "_" + strconv.Itoa(d.Generation)
}

// ParseDeliveryID is the inverse of String.
func ParseDeliveryID(s string) (DeliveryID, error) {
	notFound := NotFound("delivery")
	rest, ok := strings.CutPrefix(s, deliveryPrefix)
	if !ok {
		return DeliveryID{}, notFound
	}
	parts := strings.Split(rest, "_")
	if len(parts) != 3 {
		return DeliveryID{}, notFound
	}
	event, err := ParseEventID(eventPrefix + "_" + parts[0])
	if err != nil {
		return DeliveryID{}, notFound
	}
	endpoint, err := ParseEndpointID(endpointPrefix + parts[1])
	if err != nil {
		return DeliveryID{}, notFound
	}
	generation, err := strconv.Atoi(parts[2])
	if err != nil || generation < 1 || generation > MaxGeneration || strconv.Itoa(generation) != parts[2] {
		return DeliveryID{}, notFound
	}
	return DeliveryID{Event: event, Endpoint: endpoint, Generation: generation}, nil
}

// MarshalText returns String.
func (d DeliveryID) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText is ParseDeliveryID.
func (d *DeliveryID) UnmarshalText(text []byte) error {
	id, err := ParseDeliveryID(string(text))
	if err != nil {
		return err
	}
	*d = id
	return nil
}
