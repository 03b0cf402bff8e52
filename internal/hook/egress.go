package hook

// Egress says from which network the requests to an endpoint come.
type Egress uint8

// The values of Egress. The zero Egress is not valid.
const (
	EgressShared  Egress = iota + 1 // any address of AWS in the endpoint's region
	EgressFixed                     // the fixed addresses of the deployment, in its own region
	EgressPrivate                   // a network of the operator, to the receivers that the deployment lists
)

// String returns the word of the API.
func (e Egress) String() string {
	return Names[Egress]{EgressShared: "shared", EgressFixed: "fixed", EgressPrivate: "private"}.Of(e)
}

// PrivateRegion is the stored region of an endpoint with egress private, which is stored as fixed, too.
// A build that does not know private endpoints has no sender in such a region, and sends the requests
// of a fixed endpoint from nowhere else: deliveries wait, and nothing is sent over the internet.
const PrivateRegion = "private"

// Origin returns where the endpoint's requests come from, as callers see it: the region is empty for
// the deployment's own.
func (e *Endpoint) Origin() (region string, egress Egress) {
	switch {
	case e.Private():
		return "", EgressPrivate
	case e.Fixed:
		return e.Region, EgressFixed
	}
	return e.Region, EgressShared
}

// Private reports whether the endpoint has egress private.
func (e *Endpoint) Private() bool { return e.Fixed && e.Region == PrivateRegion }

// SetOrigin is the inverse of Origin. Only EgressShared goes with a region: with another egress the
// region is kept, so that a check can refuse it.
func (e *Endpoint) SetOrigin(region string, egress Egress) {
	e.Region, e.Fixed = region, egress != EgressShared
	if egress == EgressPrivate && region == "" {
		e.Region = PrivateRegion
	}
}
