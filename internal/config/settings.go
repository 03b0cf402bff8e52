// Package config has the settings of the functions, and the environment variables that carry
// them: one table, by which infrastructure writes the variables and each function reads its own.
// No other package reads the environment.
package config

import (
	"net/netip"
	"time"

	"surehook.example/surehook/internal/names"
)

// Choices are the settings that whoever deploys chooses.
type Choices struct {
	// Retention is the lifetime of events, deliveries and attempts in the table.
	Retention time.Duration

	// Egress is names.EgressPublic or, for the local stack only, names.EgressLoopback.
	Egress string
	// EgressHost is the name of one more host for deliveries, at private addresses, for the local stack
	// only: functions in containers reach the machine around the containers by a name. Empty for none.
	EgressHost string
	// Senders are other AWS regions with a function that sends, for the field region of endpoints.
	Senders []string
	// Destinations turns destinations in AWS on: the path of the roles of customers that function deliver
	// may assume, such as "/surehook/". Empty for HTTP only.
	Destinations string

	// Validation is what happens to events that do not fit their event type, for event types without a
	// validation of their own: names.ValidationOff, names.ValidationWarn or names.ValidationReject.
	Validation string
	// Ownership is the proof that a new endpoint needs, and one whose URL changes: empty for none, or
	// names.OwnershipChallenge.
	Ownership string
	// EndpointsPerHost is the most endpoints of a tenant with one host; 0 for no limit beside those of the
	// tenant and hook.MaxEndpointsPerURL.
	EndpointsPerHost int
	// Envelope is the envelope of new endpoints that name none: names.EnvelopeStandard or EnvelopeRaw. A
	// change leaves the stored endpoints as they are.
	Envelope string
	// SignatureProfiles is the JSON of signature profiles beside Surehook's, by name, at most 900 bytes.
	// Signatures names the profiles of new endpoints that name none; nil means standard.
	SignatureProfiles string
	Signatures        []string

	// Portal is the appearance of the tenants' portal.
	Portal names.Portal
	// SignIn is the sign-in of people by OpenID Connect. The zero SignIn has none: API keys alone.
	SignIn names.SignIn
	// Traces is the destination of spans: empty for none, names.TracesXRay for X-Ray in the stack's region,
	// or the https URL of an OTLP endpoint with its path, such as https://collector.example.com/v1/traces.
	Traces string
}

// Settings are the settings of a function. Those that the function does not get are zero.
type Settings struct {
	Choices

	Environment string // the prefix of the stack: of the metrics, and of the senders' names
	Table       string
	KeyARN      string // KMS key for the encryption of signing keys
	TopicARN    string

	Queues                names.Queues[string] // URLs
	RetryQueueARN         string
	UndeliverableRetryARN string
	ScheduleGroup         string
	ScheduleRoleARN       string
	TenantShares          int // functions of the queue slot at work for one tenant at most, at least 1

	APIHosts   []string       // hosts of Surehook's own API, always forbidden
	RuntimeAPI netip.AddrPort // address of the Lambda runtime API, always forbidden; zero for unknown
	PublicURL  string         // of the API; empty without a domain
	Addresses  []netip.Addr   // source addresses of the sender with fixed addresses; nil for none
	Private    string         // JSON of the allow-list for private receivers; empty for none
	PrivateCA  string         // PEM of authorities that their certificates may have, beside those of the system
	Account    string         // the own, for destinations in AWS
	Principal  string         // ARN of the role that assumes the roles of destinations; of manage only
	TenantPath string         // in an event of EventBridge, names with dots between

	AdminKeySecretARN string
}

// The functions that get a variable, and "dev" for the process on a developer's machine.
const (
	everywhere = "ingest deliver breaker replay manage authorize sender export"
	onTable    = "ingest deliver breaker replay manage authorize"
	requests   = "deliver manage sender" // those that make requests to receivers
)

// need says what a missing or wrong variable does.
type need int

const (
	required need = iota // without it, or with a wrong one, the function does not start
	optional             // may be missing; a wrong one is a fault
	setting              // may be missing; the function starts without a wrong one
)

// variable is an environment variable.
type variable struct {
	name      string
	functions string
	field     any // a pointer to the field of Settings
	need      need
	valid     func(text string) bool // of the text, or of each part of a list; nil: any
	want      string                 // what is valid
	instead   string                 // of a wrong setting
}

// variables is the table of all variables, with the fields of s.
func (s *Settings) variables() []variable {
	q := &s.Queues
	return []variable{
		{name: "SUREHOOK_ENVIRONMENT", functions: everywhere, field: &s.Environment},
		{name: "SUREHOOK_TABLE", functions: onTable, field: &s.Table},
		{name: "SUREHOOK_KMS_KEY_ARN", functions: "deliver manage", field: &s.KeyARN},
		{name: "SUREHOOK_TOPIC_ARN", functions: "deliver breaker", field: &s.TopicARN},
		{name: "SUREHOOK_RETENTION", functions: "ingest deliver breaker manage", field: &s.Retention, valid: validRetention, want: `a duration of at least 672h, such as "2160h"`},

		{name: "SUREHOOK_EVENTS_QUEUE_URL", functions: "ingest manage", field: &q.Events},
		{name: "SUREHOOK_REJECTS_QUEUE_URL", functions: "ingest manage", field: &q.Rejects},
		{name: "SUREHOOK_LIVE_QUEUE_URL", functions: "ingest deliver breaker replay manage", field: &q.Live},
		{name: "SUREHOOK_RETRY_QUEUE_URL", functions: "deliver breaker manage", field: &q.Retry},
		{name: "SUREHOOK_REPLAY_QUEUE_URL", functions: "breaker replay manage", field: &q.Replay},
		{name: "SUREHOOK_SLOT_QUEUE_URL", functions: "deliver breaker manage", field: &q.Slot},
		{name: "SUREHOOK_OVERFLOW_QUEUE_URL", functions: "deliver breaker manage", field: &q.Overflow},
		{name: "SUREHOOK_COALESCE_QUEUE_URL", functions: "ingest deliver breaker manage", field: &q.Coalesce},
		{name: "SUREHOOK_CIRCUITS_QUEUE_URL", functions: "deliver breaker manage", field: &q.Circuits},
		{name: "SUREHOOK_REPLAY_JOBS_URL", functions: "replay manage", field: &q.ReplayJobs},
		{name: "SUREHOOK_DEAD_LETTERS_URL", functions: "deliver breaker manage", field: &q.DeadLetters},
		{name: "SUREHOOK_UNDELIVERABLE_URL", functions: "manage", field: &q.Undeliverable},
		{name: "SUREHOOK_UNDELIVERABLE_RETRY_URL", functions: "manage", field: &q.UndeliverableRetry},
		{name: "SUREHOOK_RETRY_QUEUE_ARN", functions: "deliver", field: &s.RetryQueueARN},
		{name: "SUREHOOK_UNDELIVERABLE_RETRY_ARN", functions: "deliver", field: &s.UndeliverableRetryARN},
		{name: "SUREHOOK_SCHEDULE_GROUP", functions: "deliver", field: &s.ScheduleGroup},
		{name: "SUREHOOK_SCHEDULE_ROLE_ARN", functions: "deliver", field: &s.ScheduleRoleARN},
		{name: "SUREHOOK_TENANT_SHARES", functions: "deliver", field: &s.TenantShares, valid: validCount, want: "a whole number of at least 1"},

		{name: "SUREHOOK_EGRESS", functions: requests, field: &s.Egress, valid: oneOf(names.EgressPublic, names.EgressLoopback), want: "public or loopback"},
		{name: "SUREHOOK_EGRESS_HOST", functions: requests, field: &s.EgressHost, need: optional},
		{name: "SUREHOOK_API_HOSTS", functions: "deliver manage", field: &s.APIHosts},
		{name: "AWS_LAMBDA_RUNTIME_API", functions: requests, field: &s.RuntimeAPI, need: optional},
		{name: "SUREHOOK_PUBLIC_URL", functions: "deliver manage", field: &s.PublicURL, need: optional},
		{name: "SUREHOOK_SENDER_REGIONS", functions: "deliver manage", field: &s.Senders, need: optional},
		{name: "SUREHOOK_FIXED_ADDRESSES", functions: "manage", field: &s.Addresses, need: optional, valid: validAddress, want: "an IP address"},
		{name: "SUREHOOK_PRIVATE_ALLOW", functions: "manage sender", field: &s.Private, need: optional},
		{name: "SUREHOOK_PRIVATE_CA", functions: "sender", field: &s.PrivateCA, need: optional},
		{name: "SUREHOOK_DESTINATIONS", functions: "deliver manage", field: &s.Destinations, need: optional},
		{name: "SUREHOOK_ACCOUNT", functions: "deliver manage", field: &s.Account, need: optional},
		{name: "SUREHOOK_PRINCIPAL", functions: "manage", field: &s.Principal, need: optional},

		{name: "SUREHOOK_TENANT_PATH", functions: "ingest", field: &s.TenantPath},
		{
			name: "SUREHOOK_VALIDATION", functions: "ingest dev", field: &s.Validation, need: setting,
			valid: oneOf(names.ValidationOff, names.ValidationWarn, names.ValidationReject), want: "off, warn or reject", instead: names.ValidationOff,
		},
		// Whoever names another proof wants one.
		{
			name: "SUREHOOK_OWNERSHIP", functions: "deliver manage dev", field: &s.Ownership, need: setting,
			valid: oneOf(names.OwnershipChallenge), want: names.OwnershipChallenge, instead: names.OwnershipChallenge,
		},
		{name: "SUREHOOK_ENDPOINTS_PER_HOST", functions: "manage", field: &s.EndpointsPerHost, need: setting, valid: validCount, want: "a whole number of at least 1"},
		{
			name: "SUREHOOK_ENVELOPE", functions: "manage", field: &s.Envelope, need: setting,
			valid: oneOf(names.EnvelopeStandard, names.EnvelopeRaw), want: "standard or raw", instead: names.EnvelopeStandard,
		},
		{name: "SUREHOOK_SIGNATURE_PROFILES", functions: "manage", field: &s.SignatureProfiles, need: setting},
		{name: "SUREHOOK_SIGNATURES", functions: "manage", field: &s.Signatures, need: setting},

		{name: "SUREHOOK_PORTAL_NAME", functions: "manage dev", field: &s.Portal.Name, need: setting},
		{name: "SUREHOOK_PORTAL_ACCENT", functions: "manage dev", field: &s.Portal.Accent, need: setting, valid: names.ValidAccent, want: `a color such as "#3b5bdb"`},
		{
			name: "SUREHOOK_PORTAL_LOGO", functions: "manage dev", field: &s.Portal.Logo, need: setting,
			valid: names.ValidLogo, want: "an https URL or a data URL of an image, of 900 bytes at most",
		},
		{
			name: "SUREHOOK_PORTAL_EMBEDDERS", functions: "manage dev", field: &s.Portal.Embedders, need: setting,
			valid: names.ValidOrigin, want: `an https origin such as "https://app.example.com"`,
		},
		{name: "SUREHOOK_OIDC_ISSUER", functions: "manage authorize dev", field: &s.SignIn.Issuer, need: setting},
		{name: "SUREHOOK_OIDC_CLIENT_ID", functions: "manage authorize dev", field: &s.SignIn.ClientID, need: setting},
		{name: "SUREHOOK_OIDC_ROLES", functions: "manage authorize dev", field: &s.SignIn.Roles, need: setting},
		{name: "SUREHOOK_OIDC_CLAIM", functions: "manage authorize dev", field: &s.SignIn.Claim, need: setting},
		{name: "SUREHOOK_OIDC_SCOPES", functions: "manage authorize dev", field: &s.SignIn.Scopes, need: setting},
		{name: "SUREHOOK_OIDC_ORIGINS", functions: "manage authorize dev", field: &s.SignIn.Origins, need: setting},
		{name: "SUREHOOK_ADMIN_KEY_SECRET_ARN", functions: "authorize", field: &s.AdminKeySecretARN},
		{name: "SUREHOOK_TRACES", functions: "export", field: &s.Traces},
	}
}
