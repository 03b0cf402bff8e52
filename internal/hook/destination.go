package hook

import (
	"regexp"
	"strings"
)

// Destination is where the deliveries of an endpoint go. The zero Destination is an HTTP
// request to the endpoint's URL. For all other types the endpoint's URL names an AWS resource.
type Destination struct {
	Type    DestinationType `stored:"type"`
	RoleARN string          `stored:"role_arn"` // a role in the customer's account that Surehook assumes to send
	Source  string          `stored:"source"`   // only with eventbridge: the source field of the events
	// ExternalID is required by the role's trust policy, so that nobody can use the role
	// through another endpoint. Surehook chooses it when the type first is something other than
	// http.
	ExternalID string `stored:"external_id"`
}

// DestinationType is a kind of destination.
type DestinationType uint8

// The types of destinations. DestinationHTTP is the zero DestinationType.
const (
	DestinationHTTP        DestinationType = iota
	DestinationSQS                         // a standard queue; the endpoint's URL is the URL of the queue
	DestinationEventBridge                 // an event bus; the endpoint's URL is the ARN of the bus
)

// String returns the type as it appears in the API.
func (t DestinationType) String() string {
	return Names[DestinationType]{DestinationHTTP: "http", DestinationSQS: "sqs", DestinationEventBridge: "eventbridge"}.Of(t)
}

// DestinationTypes returns the types in AWS.
func DestinationTypes() []DestinationType {
	return []DestinationType{DestinationSQS, DestinationEventBridge}
}

// Bounds of destinations, also listed in docs/limits.md.
const (
	MaxDestinationSource = 256
	MaxBusCoalesceBytes  = 256 << 10 // of an eventbridge endpoint: an entry of up to 1 MiB contains the body twice
)

const (
	awsRegion  = `([a-z]{2}(?:-[a-z]+)+-[0-9])`
	maxRoleARN = 640 // IAM's limit for a path and a name, with the parts around them
)

var (
	queueURL = regexp.MustCompile(`^https://sqs\.` + awsRegion + `\.amazonaws\.com(?:\.cn)?/([0-9]{12})/([A-Za-z0-9_-]{1,80}|[A-Za-z0-9_-]{1,75}\.fifo)$`)
	busARN   = regexp.MustCompile(`^arn:aws[a-z-]*:events:` + awsRegion + `:([0-9]{12}):event-bus/([A-Za-z0-9._/-]{1,256})$`)
	roleARN  = regexp.MustCompile(`^arn:aws[a-z-]*:iam::([0-9]{12}):role(/(?:[A-Za-z0-9_+=,.@-]+/)*)[A-Za-z0-9_+=,.@-]{1,64}$`)
	source   = regexp.MustCompile(`^[A-Za-z0-9._/-]{1,256}$`)
)

// On reports whether the deliveries go to an AWS resource.
func (d Destination) On() bool { return d.Type != DestinationHTTP }

// Address names an AWS resource.
type Address struct {
	Region, Account, Name string
}

// Address returns the resource that the endpoint's URL names; false if the URL does not fit the
// type of the destination.
func (e *Endpoint) Address() (Address, bool) {
	form := queueURL
	if e.Destination.Type == DestinationEventBridge {
		form = busARN
	}
	m := form.FindStringSubmatch(e.URL)
	if m == nil {
		return Address{}, false
	}
	return Address{Region: m[1], Account: m[2], Name: m[3]}, true
}

// Destinations says which AWS destinations a deployment allows. The zero value allows none.
type Destinations struct {
	RolePath  string // required path of every role, such as "/surehook/"
	Account   string // the deployment's own account, which is not allowed as a destination
	Principal string // ARN of the role that assumes the roles
}

// Check returns the fields of the endpoint's destination that the deployment does not allow.
// Its own account is refused, because a delivery to a queue or bus of Surehook could cause
// further deliveries, and because the roles there are not the customers'.
func (d Destinations) Check(e *Endpoint) []FieldError {
	if !e.Destination.On() {
		return nil
	}
	if d.RolePath == "" {
		return []FieldError{{"destination.type", "must be http: this deployment has no destinations in AWS"}}
	}
	var errs Fields
	address, ok := e.Address()
	errs.Refuse(ok && address.Account == d.Account, "url", "must not be in the account of Surehook")
	if m := roleARN.FindStringSubmatch(e.Destination.RoleARN); m != nil {
		errs.Refuse(m[1] == d.Account, "destination.role_arn", "must not be in the account of Surehook")
		errs.Refuse(!strings.HasPrefix(m[2], d.RolePath), "destination.role_arn", "must be a role with the path %s", d.RolePath)
	}
	return errs
}

// validateDestination checks the destination, and refuses HTTP settings together with an AWS
// destination.
func validateDestination(e Endpoint) []FieldError {
	d, on, bus := e.Destination, e.Destination.On(), e.Destination.Type == DestinationEventBridge
	address, ok := e.Address()
	noAddress := on && !ok && e.URL != ""
	const role, src, none = "destination.role_arn", "destination.source", "must be removed: only http has "
	var errs Fields
	errs.Refuse(noAddress && bus, "url", "must be the ARN of an event bus, such as arn:aws:events:eu-west-1:111122223333:event-bus/orders")
	errs.Refuse(noAddress && !bus, "url", "must be the URL of a queue, such as https://sqs.eu-west-1.amazonaws.com/111122223333/orders")
	errs.Refuse(on && !bus && strings.HasSuffix(address.Name, ".fifo"), "url", "must be a standard queue: FIFO queues are not supported")
	errs.Refuse(!on && d.RoleARN != "", role, "must be empty for http")
	errs.Refuse(on && d.RoleARN == "", role, "is missing")
	errs.Refuse(on && d.RoleARN != "" && (len(d.RoleARN) > maxRoleARN || !roleARN.MatchString(d.RoleARN)), role, "must be the ARN of a role, such as arn:aws:iam::111122223333:role/surehook/orders")
	errs.Refuse(!bus && d.Source != "", src, "must be empty: only eventbridge has a source")
	errs.Refuse(bus && d.Source == "", src, "is missing")
	errs.Refuse(bus && d.Source != "" && !source.MatchString(d.Source), src, "must be 1 to 256 of A-Z a-z 0-9 . _ / -")
	errs.Refuse(bus && strings.HasPrefix(strings.ToLower(d.Source), "aws."), src, "must not begin with aws., which is reserved for AWS")
	errs.Refuse(on && len(e.Headers)+len(e.SealedHeaders) > 0, "headers", none+"headers")
	errs.Refuse(on && e.Auth.Type != AuthNone, "auth", none+"an authentication")
	errs.Refuse(on && e.TLS.On(), "tls", none+"TLS settings")
	errs.Refuse(on && e.Region != "", "region", "must be empty: requests to AWS go to the region of the url")
	errs.Refuse(on && e.Fixed, "egress", "must be shared: requests to AWS have no fixed addresses")
	errs.Refuse(on && (len(e.Profiles) != 1 || e.Profiles[0].Name != ProfileStandard), "signature_profiles", "must be standard alone: only http has other headers")
	errs.Refuse(bus && e.Coalesce.On() && e.Coalesce.MaxBytes > MaxBusCoalesceBytes, "coalesce.max_bytes", "must be at most 262144 for eventbridge: an entry is limited to 1 MiB and contains the body twice")
	return errs
}
