package hook

import "time"

// Notification is an operational event about an endpoint or a delivery, for the
// owner of the endpoint.
type Notification struct {
	Type     string             `stored:"type"` // one of the Notification constants
	Tenant   TenantID           `stored:"tenant"`
	Endpoint EndpointID         `stored:"id"`
	Delivery DeliveryID         `stored:"delivery"` // zero for a notification about an endpoint
	At       time.Time          `stored:"at"`
	Reason   string             `stored:"reason"`  // the explanation, one sentence
	Figures  map[string]float64 `stored:"figures"` // the numbers behind the decision, such as dead_rate: 0.62
	// FirstLoss is when the first waiting delivery is lost; only of NotificationAtRisk.
	FirstLoss time.Time `stored:"first_loss_at"`
	// Key identifies the occurrence. Repeated notifications of one occurrence have
	// equal keys; two occurrences have different keys.
	Key string `stored:"notification_key"`
}

// The types of notifications. All begin with SystemPrefix.
const (
	NotificationFailing   = SystemPrefix + "endpoint.failing"              // the dead rate passed a warning level
	NotificationAtRisk    = SystemPrefix + "endpoint.at_risk"              // waiting deliveries are lost soon, if nothing changes
	NotificationSlow      = SystemPrefix + "endpoint.slow"                 // flagged as slow
	NotificationDisabled  = SystemPrefix + "endpoint.disabled"             // after a 410 response, or because of the dead rate
	NotificationRecovered = SystemPrefix + "endpoint.recovered"            // no longer failing, or no longer slow
	NotificationExpiring  = SystemPrefix + "endpoint.certificate_expiring" // the client certificate ends within 30 or 7 days
	NotificationDead      = SystemPrefix + "delivery.dead"                 // a delivery became dead
	NotificationOpened    = SystemPrefix + "circuit.opened"
	NotificationClosed    = SystemPrefix + "circuit.closed"
)

// IsDecision reports whether the notification is about a decision that concerns the endpoint.
// Only the death of a single delivery is not.
func (n Notification) IsDecision() bool { return n.Type != NotificationDead }
