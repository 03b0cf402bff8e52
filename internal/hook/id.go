package hook

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base32"
	"strconv"
	"strings"

	"github.com/gofrs/uuid/v5"
)

// TenantID names a customer of the user: 1 to 128 letters, digits and signs of TenantRule.
type TenantID string

// EventID is "evt_" and a TypeID suffix of 26 characters. Ids of events without
// an idempotency key sort by the millisecond of acceptance.
type EventID string

// EndpointID is "ep_" and 16 random characters.
type EndpointID string

// KeyID is "key_" and 16 random characters. The id names an API key and is not secret.
// A person who signed in has a KeyID of PersonID.
type KeyID string

const (
	eventPrefix    = "evt_"
	endpointPrefix = "ep_"
	deliveryPrefix = "dlv_"
	keyPrefix      = "key_"

	// MaxGeneration bounds the generations of one event for one endpoint: the first delivery and 9,998 replays.
	MaxGeneration = 9999
)

// MaxTenantID is the longest id of a tenant, in characters.
const MaxTenantID = 128

const (
	suffixLen     = 16 // of the ids of endpoints, of keys, and of nonces
	nameChars     = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-"
	tenantChars   = nameChars + "|:@+"
	crockfordText = "0123456789abcdefghjkmnpqrstvwxyz"
)

var crockford = base32.NewEncoding(crockfordText).WithPadding(base32.NoPadding)

// isOf reports whether the text has 1 to most bytes, each one of the given ASCII characters.
func isOf(text, characters string, most int) bool {
	return text != "" && len(text) <= most && strings.Trim(text, characters) == ""
}

// isSuffix reports whether the text is the random part of an id.
func isSuffix(text string) bool {
	return len(text) == suffixLen && isOf(text, crockfordText, suffixLen)
}

// NewEventID returns a fresh id from a UUIDv7.
func NewEventID() EventID { return EventID(typeID(eventPrefix, uuid.Must(uuid.NewV7()))).unmarked() }

// Ends of the ids of test events.
const (
	testMark  = "test"
	namedMark = "n" + testMark // of those that only a body with their type may carry
	plainMark = "0" + testMark // of the others
)

// ForTest returns the id with the mark of a test event. named: only a body that names the type of the
// event may carry the payload, because its author may not post events. The mark holds for all
// requests about the event: to an endpoint that is changed meanwhile, and to those of replays.
func (id EventID) ForTest(named bool) EventID {
	mark := plainMark
	if named {
		mark = namedMark
	}
	return id[:max(0, len(id)-len(mark))] + EventID(mark)
}

// MustBeNamed reports whether only a body that names the type of the event may carry the payload.
func (id EventID) MustBeNamed() bool { return strings.HasSuffix(string(id), namedMark) }

// IsTest reports whether the id has the mark of a test event.
func (id EventID) IsTest() bool { return strings.HasSuffix(string(id), testMark) }

// unmarked returns the id, or another one if chance gave it the mark.
func (id EventID) unmarked() EventID {
	if id.IsTest() {
		return id[:len(id)-1] + "0"
	}
	return id
}

// KeyedEventID returns the event id for an idempotency key of the tenant: a
// UUIDv8 (RFC 9562, section 5.8) of SHA-256(tenant, 0, key). Equal arguments
// give equal ids, so a conditional write of the event is the idempotency check.
func KeyedEventID(tenant TenantID, key string) EventID {
	sum := sha256.Sum256([]byte(string(tenant) + "\x00" + key))
	id := uuid.UUID(sum[:uuid.Size])
	id.SetVersion(8)
	id.SetVariant(uuid.VariantRFC9562)
	return EventID(typeID(eventPrefix, id)).unmarked()
}

// NewEndpointID returns a fresh random id.
func NewEndpointID() EndpointID { return EndpointID(endpointPrefix + randomSuffix()) }

// NewKeyID returns a fresh random id.
func NewKeyID() KeyID { return KeyID(keyPrefix + randomSuffix()) }

// NewNonce returns 16 random characters, which tell a task or an accepted event from its
// duplicates.
func NewNonce() string { return randomSuffix() }

// randomSuffix returns 80 random bits as 16 characters of Crockford's base32.
func randomSuffix() string {
	var b [10]byte
	_, _ = rand.Read(b[:]) // never fails: crypto/rand crashes the program instead
	return crockford.EncodeToString(b[:])
}

// TenantRule says which texts are ids of tenants.
const TenantRule = "must be 1 to 128 of A-Z a-z 0-9 _ . - | : @ +, not . or .."

// ParseTenantID checks s. The keys of the store and the names of message groups have the id as it
// is, so it contains no "#"; an id in the path of a URL is escaped.
func ParseTenantID(s string) (TenantID, error) {
	if !isOf(s, tenantChars, MaxTenantID) || dotSegment(s) {
		return "", Invalid(FieldError{"tenant", TenantRule})
	}
	return TenantID(s), nil
}

// ParseEventID checks s.
func ParseEventID(s string) (EventID, error) {
	if _, ok := EventID(s).UUID(); !ok {
		return "", NotFound("event")
	}
	return EventID(s), nil
}

// UUID returns the 16 bytes in the id; ok is false for an invalid id.
func (id EventID) UUID() (b [16]byte, ok bool) {
	return parseTypeID(eventPrefix, string(id))
}

// ParseEndpointID checks s.
func ParseEndpointID(s string) (EndpointID, error) {
	return parseRandom[EndpointID](s, endpointPrefix, "endpoint")
}

// parseRandom checks the id of a resource: the prefix and 16 random characters.
func parseRandom[ID ~string](s, prefix, resource string) (ID, error) {
	if suffix, ok := strings.CutPrefix(s, prefix); !ok || !isSuffix(suffix) {
		return "", NotFound(resource)
	}
	return ID(s), nil
}

// DeliveryID names one event for one endpoint in one generation. Its parts lead to the record
// of the delivery, so no lookup table is needed.
type DeliveryID struct {
	Event      EventID
	Endpoint   EndpointID
	Generation int // from 1; each replay adds 1
}

// String returns dlv_<event suffix>_<endpoint suffix>_<generation>.
func (d DeliveryID) String() string {
	return deliveryPrefix + strings.TrimPrefix(string(d.Event), eventPrefix) + "_" +
		strings.TrimPrefix(string(d.Endpoint), endpointPrefix) + "_" + strconv.Itoa(d.Generation)
}

// ParseDeliveryID is the inverse of String.
func ParseDeliveryID(s string) (DeliveryID, error) {
	rest, ours := strings.CutPrefix(s, deliveryPrefix)
	eventPart, rest, _ := strings.Cut(rest, "_")
	endpointPart, number, _ := strings.Cut(rest, "_")
	event, badEvent := ParseEventID(eventPrefix + eventPart)
	endpoint, badEndpoint := ParseEndpointID(endpointPrefix + endpointPart)
	generation, _ := strconv.Atoi(number)
	if !ours || badEvent != nil || badEndpoint != nil ||
		generation < 1 || generation > MaxGeneration || strconv.Itoa(generation) != number {
		return DeliveryID{}, NotFound("delivery")
	}
	return DeliveryID{Event: event, Endpoint: endpoint, Generation: generation}, nil
}

// MarshalText returns String.
func (d DeliveryID) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText is ParseDeliveryID.
func (d *DeliveryID) UnmarshalText(text []byte) (err error) {
	*d, err = ParseDeliveryID(string(text))
	return err
}
