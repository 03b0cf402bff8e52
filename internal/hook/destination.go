package hook

import "cmp"

// Destination is where the deliveries of an endpoint go. The zero Destination is an HTTP
// request to the endpoint's URL. For all other types the endpoint's URL names an AWS resource.
type Destination struct {
	Type     DestinationType   `stored:"type"`
	Settings map[string]string `stored:",inline"` // of the type, by their names in the API; nil: none
	// ExternalID is required by the trust policy of a customer's role, so that nobody can use the
	// role through another endpoint. Surehook chooses it when the type first is something other
	// than http.
	ExternalID string `stored:"external_id"`
}

// DestinationType is the name of a type of destination. Package rule/destination has the types.
type DestinationType string

// DestinationHTTP is a request to the endpoint's URL.
const DestinationHTTP DestinationType = ""

// String returns the type as it appears in the API.
func (t DestinationType) String() string { return cmp.Or(string(t), "http") }

// On reports whether the deliveries go to an AWS resource.
func (d Destination) On() bool { return d.Type != DestinationHTTP }

// Destinations says which AWS destinations a deployment allows. The zero value allows none.
type Destinations struct {
	RolePath  string // required path of every role, such as "/surehook/"
	Account   string // the deployment's own account, which is not allowed as a destination
	Principal string // ARN of the role that assumes the roles
}
