package hook

import "time"

// Notification is something that happened to an endpoint or a delivery and that its
// owner should hear of: an operational event.
type Notification struct {
	Type     string // one of the Notice types
	Tenant   TenantID
	Endpoint EndpointID
	Delivery DeliveryID // zero unless it is about one
	At       time.Time
	Reason   string             // for people: one sentence
	Figures  map[string]float64 // what was decided by, such as dead_rate 0.62
	// Key is the same for the same occurrence, however often it is told, and
	// differs between occurrences of one endpoint.
	Key string
}

// The types of notices. All begin with SystemPrefix.
const (
	NotificationFailing   = SystemPrefix + "endpoint.failing"   // its dead rate passed a warning
	NotificationSlow      = SystemPrefix + "endpoint.slow"      // it was flagged as slow
	NotificationDisabled  = SystemPrefix + "endpoint.disabled"  // by its answer 410 or by its dead rate
	NotificationRecovered = SystemPrefix + "endpoint.recovered" // it is failing, or slow, no more
	NotificationDead      = SystemPrefix + "delivery.dead"      // a delivery gave up
	NotificationOpened    = SystemPrefix + "circuit.opened"
	NotificationClosed    = SystemPrefix + "circuit.closed"
)

// Lasts reports whether the notice belongs in the history of its endpoint: what
// was decided about the endpoint does, the end of a single delivery does not.
func (n Notification) Lasts() bool { return n.Type != NotificationDead }
