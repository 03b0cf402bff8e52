package hook

import "time"

// Notice is something that happened to an endpoint or a delivery and that its
// owner should hear of: an operational event.
type Notice struct {
	Type     string // one of the Notice types
	Tenant   TenantID
	Endpoint EndpointID
	Delivery DeliveryID // zero unless it is about one
	At       time.Time
	Why      string             // for people: one sentence
	Figures  map[string]float64 // what was decided by, such as dead_rate 0.62
	// Key is the same for the same occurrence, however often it is told, and
	// differs between occurrences of one endpoint.
	Key string
}

// The types of notices. All begin with SystemPrefix.
const (
	NoticeFailing   = SystemPrefix + "endpoint.failing"   // its dead rate passed a warning
	NoticeSlow      = SystemPrefix + "endpoint.slow"      // it was flagged as slow
	NoticeDisabled  = SystemPrefix + "endpoint.disabled"  // by its answer 410 or by its dead rate
	NoticeRecovered = SystemPrefix + "endpoint.recovered" // it is failing, or slow, no more
	NoticeDead      = SystemPrefix + "delivery.dead"      // a delivery gave up
	NoticeOpened    = SystemPrefix + "circuit.opened"
	NoticeClosed    = SystemPrefix + "circuit.closed"
)

// Lasts reports whether the notice belongs in the history of its endpoint: what
// was decided about the endpoint does, the end of a single delivery does not.
func (n Notice) Lasts() bool { return n.Type != NoticeDead }
