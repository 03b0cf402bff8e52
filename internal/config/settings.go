// Package config has the settings of the functions, and the environment variables that carry
// them: one table, by which infrastructure writes the variables and each function reads its own.
// No other package reads the environment.
package config

import (
	"net/netip"
	"time"

	"surehook.example/surehook/internal/names"
)

// Settings are the settings of a function. Those that the function does not get are zero.
type Settings struct {
	Environment string // the prefix of the stack: of the metrics, and of the senders' names
	Table       string
	KeyARN      string // KMS key for the encryption of signing keys
	TopicARN    string
	Retention   time.Duration

	Queues                Queues
	RetryQueueARN         string
	UndeliverableRetryARN string
	ScheduleGroup         string
	ScheduleRoleARN       string
	TenantPlaces          int // functions of the lane slot at work for one tenant at most, at least 1

	Egress     string         // names.EgressPublic or EgressLoopback
	EgressHost string         // one more permitted host at private addresses, for the local stack; empty for none
	APIHosts   []string       // hosts of Surehook's own API, always forbidden
	RuntimeAPI netip.AddrPort // address of the Lambda runtime API, always forbidden; zero for unknown
	PublicURL  string         // of the API; empty without a domain

	SenderRegions []string     // other regions with a sender; nil for none
	Addresses     []netip.Addr // source addresses of the sender with fixed addresses; nil for none
	Destinations  Destinations

	TenantPath       string   // in an event of EventBridge, names with dots between
	Validation       string   // names.ValidationOff, ValidationWarn or ValidationReject
	Ownership        string   // names.OwnershipChallenge; empty: receivers are not asked, and endpoints need no proof
	EndpointsPerHost int      // endpoints of a tenant with one host at most; 0: no limit
	Envelope         string   // of a new endpoint that names none: names.EnvelopeStandard or EnvelopeRaw
	Profiles         string   // JSON of the deployment's own signature profiles, by name; empty for none
	NewProfiles      []string // of a new endpoint that names none; nil: standard

	Portal            Portal
	SignIn            names.SignIn
	AdminKeySecretARN string
	Traces            string // names.TracesXRay, or the URL of an OTLP endpoint
}

// Queues are the URLs of the queues.
type Queues struct {
	Events, Rejects                                string
	Live, Retry, Replay, Slot, Overflow, Coalesce  string
	Circuits, ReplayJobs                           string
	DeadLetters, Undeliverable, UndeliverableRetry string
}

// Destinations are the destinations in AWS. The zero Destinations has none.
type Destinations struct {
	RolePath  string
	Account   string // the own
	Principal string // ARN of the role that assumes the roles; of manage only
}

// Portal is the appearance of the tenants' portal. The zero Portal has Surehook's appearance, and no
// other page may embed the portal.
type Portal struct {
	Name      string   // a short title
	Accent    string   // a color, "#" and six hexadecimal digits
	Logo      string   // an https URL, or a data URL of a PNG, JPEG, WebP or SVG image in base64, of 900 bytes at most
	Embedders []string // origins whose pages may show the portal in a frame, such as https://app.example.com
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
		{name: names.EnvEnvironment, functions: everywhere, field: &s.Environment},
		{name: names.EnvTable, functions: onTable, field: &s.Table},
		{name: names.EnvKey, functions: "deliver manage", field: &s.KeyARN},
		{name: names.EnvTopic, functions: "deliver breaker", field: &s.TopicARN},
		{name: names.EnvRetention, functions: "ingest deliver breaker manage", field: &s.Retention, valid: validRetention, want: `a duration of at least 672h, such as "2160h"`},

		{name: names.EnvEventsQueue, functions: "ingest manage", field: &q.Events},
		{name: names.EnvRejectsQueue, functions: "ingest manage", field: &q.Rejects},
		{name: names.EnvLiveQueue, functions: "ingest deliver breaker manage", field: &q.Live},
		{name: names.EnvRetryQueue, functions: "deliver breaker manage", field: &q.Retry},
		{name: names.EnvReplayQueue, functions: "breaker replay manage", field: &q.Replay},
		{name: names.EnvSlotQueue, functions: "deliver breaker manage", field: &q.Slot},
		{name: names.EnvOverflowQueue, functions: "deliver breaker manage", field: &q.Overflow},
		{name: names.EnvCoalesceQueue, functions: "ingest deliver breaker manage", field: &q.Coalesce},
		{name: names.EnvCircuitsQueue, functions: "deliver breaker manage", field: &q.Circuits},
		{name: names.EnvReplayJobsQueue, functions: "replay manage", field: &q.ReplayJobs},
		{name: names.EnvDeadLettersQueue, functions: "deliver breaker manage", field: &q.DeadLetters},
		{name: names.EnvUndeliverable, functions: "manage", field: &q.Undeliverable},
		{name: names.EnvUndeliverableRetry, functions: "manage", field: &q.UndeliverableRetry},
		{name: names.EnvRetryQueueARN, functions: "deliver", field: &s.RetryQueueARN},
		{name: names.EnvUndeliverableRetryARN, functions: "deliver", field: &s.UndeliverableRetryARN},
		{name: names.EnvScheduleGroup, functions: "deliver", field: &s.ScheduleGroup},
		{name: names.EnvScheduleRole, functions: "deliver", field: &s.ScheduleRoleARN},
		{name: names.EnvTenantPlaces, functions: "deliver", field: &s.TenantPlaces, valid: validCount, want: "a whole number of at least 1"},

		{name: names.EnvEgress, functions: requests, field: &s.Egress, valid: oneOf(names.EgressPublic, names.EgressLoopback), want: "public or loopback"},
		{name: names.EnvEgressHost, functions: requests, field: &s.EgressHost, need: optional},
		{name: names.EnvAPIHosts, functions: "deliver manage", field: &s.APIHosts},
		{name: names.EnvRuntimeAPI, functions: requests, field: &s.RuntimeAPI, need: optional},
		{name: names.EnvPublicURL, functions: "deliver manage", field: &s.PublicURL, need: optional},
		{name: names.EnvSenderRegions, functions: "deliver manage", field: &s.SenderRegions, need: optional},
		{name: names.EnvFixedAddresses, functions: "manage", field: &s.Addresses, need: optional, valid: validAddress, want: "an IP address"},
		{name: names.EnvDestinations, functions: "deliver manage", field: &s.Destinations.RolePath, need: optional},
		{name: names.EnvAccount, functions: "deliver manage", field: &s.Destinations.Account, need: optional},
		{name: names.EnvPrincipal, functions: "manage", field: &s.Destinations.Principal, need: optional},

		{name: names.EnvTenantPath, functions: "ingest", field: &s.TenantPath},
		{
			name: names.EnvValidation, functions: "ingest dev", field: &s.Validation, need: setting,
			valid: oneOf(names.ValidationOff, names.ValidationWarn, names.ValidationReject), want: "off, warn or reject", instead: names.ValidationOff,
		},
		// Whoever names another proof wants one.
		{
			name: names.EnvOwnership, functions: "deliver manage dev", field: &s.Ownership, need: setting,
			valid: oneOf(names.OwnershipChallenge), want: names.OwnershipChallenge, instead: names.OwnershipChallenge,
		},
		{name: names.EnvEndpointsPerHost, functions: "manage", field: &s.EndpointsPerHost, need: setting, valid: validCount, want: "a whole number of at least 1"},
		{
			name: names.EnvEnvelope, functions: "manage", field: &s.Envelope, need: setting,
			valid: oneOf(names.EnvelopeStandard, names.EnvelopeRaw), want: "standard or raw", instead: names.EnvelopeStandard,
		},
		{name: names.EnvSignatureProfiles, functions: "manage", field: &s.Profiles, need: setting},
		{name: names.EnvSignatures, functions: "manage", field: &s.NewProfiles, need: setting},

		{name: names.EnvPortalName, functions: "manage dev", field: &s.Portal.Name, need: setting},
		{name: names.EnvPortalAccent, functions: "manage dev", field: &s.Portal.Accent, need: setting, valid: names.ValidAccent, want: `a color such as "#3b5bdb"`},
		{
			name: names.EnvPortalLogo, functions: "manage dev", field: &s.Portal.Logo, need: setting,
			valid: names.ValidLogo, want: "an https URL or a data URL of an image, of 900 bytes at most",
		},
		{
			name: names.EnvPortalEmbedders, functions: "manage dev", field: &s.Portal.Embedders, need: setting,
			valid: names.ValidOrigin, want: `an https origin such as "https://app.example.com"`,
		},
		{name: names.EnvOIDCIssuer, functions: "manage authorize dev", field: &s.SignIn.Issuer, need: setting},
		{name: names.EnvOIDCClientID, functions: "manage authorize dev", field: &s.SignIn.ClientID, need: setting},
		{name: names.EnvOIDCRoles, functions: "manage authorize dev", field: &s.SignIn.Roles, need: setting},
		{name: names.EnvOIDCClaim, functions: "manage authorize dev", field: &s.SignIn.Claim, need: setting},
		{name: names.EnvOIDCScopes, functions: "manage authorize dev", field: &s.SignIn.Scopes, need: setting},
		{name: names.EnvOIDCOrigins, functions: "manage authorize dev", field: &s.SignIn.Origins, need: setting},
		{name: names.EnvAdminKeySecret, functions: "authorize", field: &s.AdminKeySecretARN},
		{name: names.EnvTraces, functions: "export", field: &s.Traces},
	}
}
