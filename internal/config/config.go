// Package config reads the environment into one struct per function. No other
// package reads the environment. An error lists all faults at once.
package config

import (
	"errors"
	"fmt"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"surehook.example/surehook/internal/names"
)

// Lookup is os.LookupEnv or a replacement in a test.
type Lookup func(name string) (value string, ok bool)

// Ignored are the faults of settings that a function starts without, so that one wrong setting
// does not stop all requests.
type Ignored []error

// IgnoredSettings returns the faults.
func (i Ignored) IgnoredSettings() []error { return i }

// Ingest configures functions/ingest.
type Ingest struct {
	Ignored

	Environment   string
	Table         string
	LiveQueue     string // URL
	CoalesceQueue string // URL
	EventsQueue   string // URL
	RejectsQueue  string // URL
	TenantPath    string // in an event of EventBridge, names with dots between
	Retention     time.Duration
	Validation    string // names.ValidationOff, ValidationWarn or ValidationReject
}

// Deliver configures functions/deliver.
type Deliver struct {
	Environment           string
	Table                 string
	KeyARN                string // KMS key for the encryption of signing keys
	LiveQueue             string // URL
	RetryQueue            string // URL
	RetryQueueARN         string
	SlotQueue             string // URL
	OverflowQueue         string // URL
	CoalesceQueue         string // URL
	TenantPlaces          int    // functions of the lane slot at work for one tenant at most, at least 1
	DeadLettersQueue      string // URL
	CircuitsQueue         string // URL
	UndeliverableRetryARN string
	ScheduleGroup         string
	ScheduleRoleARN       string
	TopicARN              string
	Retention             time.Duration
	PublicURL             string // of the API; empty without a domain
	Egress                Egress
	SenderRegions         []string // other regions with a sender; nil for none
	Destinations          Destinations
	Ownership             string // names.OwnershipChallenge; empty: receivers are not asked
}

// Manage configures functions/manage.
type Manage struct {
	Ignored

	Table         string
	KeyARN        string            // KMS key for the encryption of signing keys
	LiveQueue     string            // URL
	CircuitsQueue string            // URL
	EventsQueue   string            // URL
	RejectsQueue  string            // URL
	Queues        map[string]string // URLs of all queues, by name in the API
	Retention     time.Duration
	Egress        Egress
	Portal        Portal
	SignIn        names.SignIn
	SenderRegions []string     // other regions with a sender; nil for none
	Addresses     []netip.Addr // source addresses of the sender with fixed addresses; nil for none

	Destinations Destinations
	Envelope     string   // of a new endpoint that names none: names.EnvelopeStandard or names.EnvelopeRaw
	Profiles     string   // JSON of the deployment's own signature profiles, by name; empty for none
	PublicURL    string   // of the API; empty without a domain
	NewProfiles  []string // of a new endpoint that names none; nil: standard

	EndpointsPerHost int // endpoints of a tenant with one host at most; 0: no limit

	Ownership   string // names.OwnershipChallenge; empty: endpoints need no proof
	Environment string // prefix of the senders' names
}

// Destinations are the destinations in AWS. The zero Destinations has none.
type Destinations struct {
	RolePath  string
	Account   string // the own
	Principal string // ARN of the role that assumes the roles; of Manage only
}

// Sender configures functions/sender.
type Sender struct {
	Egress Egress // without APIHosts: each message names the hosts
}

// Portal determines the appearance of the tenants' portal. All fields may be empty.
type Portal struct {
	Name      string
	Accent    string   // "#" and six hexadecimal digits
	Logo      string   // an https URL, or a data URL of an image
	Embedders []string // origins that may show the portal in a frame
}

// Breaker configures functions/breaker.
type Breaker struct {
	Environment      string
	Table            string
	LiveQueue        string // URL
	RetryQueue       string // URL
	ReplayQueue      string // URL
	SlotQueue        string // URL
	OverflowQueue    string // URL
	CoalesceQueue    string // URL
	DeadLettersQueue string // URL
	CircuitsQueue    string // URL
	TopicARN         string
	Retention        time.Duration
}

// Replay configures functions/replay.
type Replay struct {
	Environment     string
	Table           string
	ReplayQueue     string // URL of the lane
	ReplayJobsQueue string // URL
}

// Export configures functions/export.
type Export struct {
	Environment string
	Traces      string // names.TracesXRay, or the URL of an OTLP endpoint
}

// Authorize configures functions/authorize.
type Authorize struct {
	Ignored

	Table             string
	AdminKeySecretARN string
	SignIn            names.SignIn
}

// Egress determines the permitted addresses for requests to endpoints.
type Egress struct {
	Loopback   bool           // also permit http and loopback addresses, for the local stack
	Host       string         // one more permitted host at private addresses, for the local stack; empty for none
	APIHosts   []string       // hosts of Surehook's own API, always forbidden
	RuntimeAPI netip.AddrPort // address of the Lambda runtime API, always forbidden; zero for unknown
}

// ForIngest reads the configuration of functions/ingest.
func ForIngest(lookup Lookup) (Ingest, error) {
	r := reader{lookup: lookup}
	c := Ingest{
		Environment:   r.text(names.EnvEnvironment),
		Table:         r.text(names.EnvTable),
		LiveQueue:     r.text(names.EnvLiveQueue),
		CoalesceQueue: r.text(names.EnvCoalesceQueue),
		EventsQueue:   r.text(names.EnvEventsQueue),
		RejectsQueue:  r.text(names.EnvRejectsQueue),
		TenantPath:    r.text(names.EnvTenantPath),
		Retention:     r.retention(),
		Validation:    r.validation(),
	}
	c.Ignored = r.ignored
	return c, r.err()
}

// ForDeliver reads the configuration of functions/deliver.
func ForDeliver(lookup Lookup) (Deliver, error) {
	r := reader{lookup: lookup}
	c := Deliver{
		Environment:           r.text(names.EnvEnvironment),
		Table:                 r.text(names.EnvTable),
		KeyARN:                r.text(names.EnvKey),
		LiveQueue:             r.text(names.EnvLiveQueue),
		RetryQueue:            r.text(names.EnvRetryQueue),
		RetryQueueARN:         r.text(names.EnvRetryQueueARN),
		SlotQueue:             r.text(names.EnvSlotQueue),
		OverflowQueue:         r.text(names.EnvOverflowQueue),
		CoalesceQueue:         r.text(names.EnvCoalesceQueue),
		TenantPlaces:          r.count(names.EnvTenantPlaces),
		DeadLettersQueue:      r.text(names.EnvDeadLettersQueue),
		CircuitsQueue:         r.text(names.EnvCircuitsQueue),
		UndeliverableRetryARN: r.text(names.EnvUndeliverableRetryARN),
		ScheduleGroup:         r.text(names.EnvScheduleGroup),
		ScheduleRoleARN:       r.text(names.EnvScheduleRole),
		TopicARN:              r.text(names.EnvTopic),
		Retention:             r.retention(),
		PublicURL:             r.optional(names.EnvPublicURL),
		Egress:                r.egress(),
		SenderRegions:         r.list(names.EnvSenderRegions),
		Destinations:          r.destinations(),
		Ownership:             r.ownership(),
	}
	r.requireAPIHosts(c.Egress)
	return c, r.err()
}

// ForSender reads the configuration of functions/sender.
func ForSender(lookup Lookup) (Sender, error) {
	r := reader{lookup: lookup}
	return Sender{Egress: r.egress()}, r.err()
}

// ForExport reads the configuration of functions/export.
func ForExport(lookup Lookup) (Export, error) {
	r := reader{lookup: lookup}
	c := Export{Environment: r.text(names.EnvEnvironment), Traces: r.text(names.EnvTraces)}
	return c, r.err()
}

// ForManage reads the configuration of functions/manage.
func ForManage(lookup Lookup) (Manage, error) {
	r := reader{lookup: lookup}
	c := Manage{
		Table:         r.text(names.EnvTable),
		KeyARN:        r.text(names.EnvKey),
		LiveQueue:     r.text(names.EnvLiveQueue),
		CircuitsQueue: r.text(names.EnvCircuitsQueue),
		EventsQueue:   r.text(names.EnvEventsQueue),
		RejectsQueue:  r.text(names.EnvRejectsQueue),
		Queues: map[string]string{
			"events":              r.text(names.EnvEventsQueue),
			"rejects":             r.text(names.EnvRejectsQueue),
			"live":                r.text(names.EnvLiveQueue),
			"retry":               r.text(names.EnvRetryQueue),
			"replay":              r.text(names.EnvReplayQueue),
			"slot":                r.text(names.EnvSlotQueue),
			"overflow":            r.text(names.EnvOverflowQueue),
			"coalesce":            r.text(names.EnvCoalesceQueue),
			"replay_jobs":         r.text(names.EnvReplayJobsQueue),
			"circuits":            r.text(names.EnvCircuitsQueue),
			"dead_letters":        r.text(names.EnvDeadLettersQueue),
			"undeliverable":       r.text(names.EnvUndeliverable),
			"undeliverable_retry": r.text(names.EnvUndeliverableRetry),
		},
		Retention:     r.retention(),
		Egress:        r.egress(),
		Portal:        r.portal(),
		SignIn:        r.signIn(),
		SenderRegions: r.list(names.EnvSenderRegions),
		Addresses:     r.addresses(names.EnvFixedAddresses),
		Destinations:  r.destinations(),
		Envelope:      r.envelope(),
		PublicURL:     r.optional(names.EnvPublicURL),
		Profiles:      r.optional(names.EnvSignatureProfiles),
		NewProfiles:   r.list(names.EnvSignatures),

		EndpointsPerHost: r.endpointsPerHost(),

		Ownership:   r.ownership(),
		Environment: r.text(names.EnvEnvironment),
	}
	if c.Destinations.RolePath != "" {
		c.Destinations.Principal = r.text(names.EnvPrincipal)
	}
	r.requireAPIHosts(c.Egress)
	c.Ignored = r.ignored
	return c, r.err()
}

// ForPortal reads the appearance of the portal alone.
func ForPortal(lookup Lookup) (Portal, error) {
	r := reader{lookup: lookup}
	value := r.portal()
	return value, r.strict()
}

// ForSignIn reads the sign-in of people alone.
func ForSignIn(lookup Lookup) (names.SignIn, error) {
	r := reader{lookup: lookup}
	value := r.signIn()
	return value, r.strict()
}

// ForValidation reads the validation of events alone; names.ValidationOff without one.
func ForValidation(lookup Lookup) (string, error) {
	if _, ok := lookup(names.EnvValidation); !ok {
		return names.ValidationOff, nil
	}
	r := reader{lookup: lookup}
	value := r.validation()
	return value, r.strict()
}

// ForOwnership reads the proof that endpoints need alone; empty for none.
func ForOwnership(lookup Lookup) (string, error) {
	r := reader{lookup: lookup}
	value := r.ownership()
	return value, r.strict()
}

// ForBreaker reads the configuration of functions/breaker.
func ForBreaker(lookup Lookup) (Breaker, error) {
	r := reader{lookup: lookup}
	c := Breaker{
		Environment:      r.text(names.EnvEnvironment),
		Table:            r.text(names.EnvTable),
		LiveQueue:        r.text(names.EnvLiveQueue),
		RetryQueue:       r.text(names.EnvRetryQueue),
		ReplayQueue:      r.text(names.EnvReplayQueue),
		SlotQueue:        r.text(names.EnvSlotQueue),
		OverflowQueue:    r.text(names.EnvOverflowQueue),
		CoalesceQueue:    r.text(names.EnvCoalesceQueue),
		DeadLettersQueue: r.text(names.EnvDeadLettersQueue),
		CircuitsQueue:    r.text(names.EnvCircuitsQueue),
		TopicARN:         r.text(names.EnvTopic),
		Retention:        r.retention(),
	}
	return c, r.err()
}

// ForReplay reads the configuration of functions/replay.
func ForReplay(lookup Lookup) (Replay, error) {
	r := reader{lookup: lookup}
	c := Replay{
		Environment:     r.text(names.EnvEnvironment),
		Table:           r.text(names.EnvTable),
		ReplayQueue:     r.text(names.EnvReplayQueue),
		ReplayJobsQueue: r.text(names.EnvReplayJobsQueue),
	}
	return c, r.err()
}

// ForAuthorize reads the configuration of functions/authorize.
func ForAuthorize(lookup Lookup) (Authorize, error) {
	r := reader{lookup: lookup}
	c := Authorize{
		Table:             r.text(names.EnvTable),
		AdminKeySecretARN: r.text(names.EnvAdminKeySecret),
		SignIn:            r.signIn(),
	}
	c.Ignored = r.ignored
	return c, r.err()
}

// reader collects faults, so one start reports all faults.
type reader struct {
	lookup  Lookup
	faults  []error
	ignored []error // of settings
}

func (r *reader) err() error { return errors.Join(r.faults...) }

// strict returns the faults of settings, too: a person who starts a program sees them.
func (r *reader) strict() error { return errors.Join(append(r.faults, r.ignored...)...) }

// ignore notes a fault of a setting that is left out.
func (r *reader) ignore(format string, args ...any) {
	r.ignored = append(r.ignored, fmt.Errorf(format, args...))
}

func (r *reader) text(name string) string {
	value, _ := r.lookup(name)
	if value == "" {
		r.faults = append(r.faults, fmt.Errorf("%s is not set", name))
	}
	return value
}

// count returns a whole number of at least 1.
func (r *reader) count(name string) int {
	value := r.text(name)
	if value == "" {
		return 0
	}
	n, err := strconv.Atoi(value)
	if err != nil || n < 1 {
		r.faults = append(r.faults, fmt.Errorf("%s is %q, not a whole number of at least 1", name, value))
	}
	return n
}

// endpointsPerHost returns the most endpoints of a tenant with one host; 0 for no limit.
func (r *reader) endpointsPerHost() int {
	value := r.optional(names.EnvEndpointsPerHost)
	if value == "" {
		return 0
	}
	n, err := strconv.Atoi(value)
	if err != nil || n < 1 {
		r.ignore("%s is %q, not a whole number of at least 1", names.EnvEndpointsPerHost, value)
		return 0
	}
	return n
}

// retention returns the time to keep events and deliveries.
func (r *reader) retention() time.Duration {
	value := r.text(names.EnvRetention)
	if value == "" {
		return 0
	}
	d, err := time.ParseDuration(value)
	if err != nil || d < names.MinRetention {
		r.faults = append(r.faults, fmt.Errorf(`%s is %q, not a duration of at least 672h, such as "2160h"`, names.EnvRetention, value))
	}
	return d
}

// validation returns what happens to events that do not fit their event type.
func (r *reader) validation() string {
	value := r.text(names.EnvValidation)
	switch value {
	case names.ValidationOff, names.ValidationWarn, names.ValidationReject, "":
	default:
		r.ignore("%s is %q, not off, warn or reject", names.EnvValidation, value)
		return names.ValidationOff
	}
	return value
}

func (r *reader) envelope() string {
	value := r.text(names.EnvEnvelope)
	switch value {
	case names.EnvelopeStandard, names.EnvelopeRaw, "":
	default:
		r.ignore("%s is %q, not standard or raw", names.EnvEnvelope, value)
		return names.EnvelopeStandard
	}
	return value
}

// ownership returns the proof that endpoints need; empty for none. Whoever names another proof
// wants one.
func (r *reader) ownership() string {
	value := r.optional(names.EnvOwnership)
	if value != "" && value != names.OwnershipChallenge {
		r.ignore("%s is %q, not %s", names.EnvOwnership, value, names.OwnershipChallenge)
		return names.OwnershipChallenge
	}
	return value
}

// optional returns the text of a variable that may be unset.
func (r *reader) optional(name string) string {
	value, _ := r.lookup(name)
	return value
}

func (r *reader) egress() Egress {
	var e Egress
	switch value := r.text(names.EnvEgress); value {
	case names.EgressPublic, "":
	case names.EgressLoopback:
		e.Loopback = true
	default:
		r.faults = append(r.faults, fmt.Errorf("%s is %q, not %s or %s", names.EnvEgress, value, names.EgressPublic, names.EgressLoopback))
	}
	if host, ok := r.lookup(names.EnvEgressHost); ok {
		e.Host = host
		if !e.Loopback {
			r.faults = append(r.faults, fmt.Errorf("%s is for the local stack only, with %s=%s", names.EnvEgressHost, names.EnvEgress, names.EgressLoopback))
		}
	}
	e.APIHosts = r.list(names.EnvAPIHosts)
	// Lambda sets the address of the runtime API as IP address and port.
	if value, ok := r.lookup(names.EnvRuntimeAPI); ok {
		e.RuntimeAPI, _ = netip.ParseAddrPort(value)
	}
	return e
}

func (r *reader) requireAPIHosts(e Egress) {
	if len(e.APIHosts) == 0 {
		r.faults = append(r.faults, fmt.Errorf("%s is not set", names.EnvAPIHosts))
	}
}

// list returns the parts between commas; nil for an unset or empty variable.
func (r *reader) list(name string) []string {
	value, _ := r.lookup(name)
	if value == "" {
		return nil
	}
	return strings.Split(value, ",")
}

// destinations returns the destinations in AWS, without the principal.
func (r *reader) destinations() Destinations {
	path, _ := r.lookup(names.EnvDestinations)
	if path == "" {
		return Destinations{}
	}
	return Destinations{RolePath: path, Account: r.text(names.EnvAccount)}
}

func (r *reader) addresses(name string) []netip.Addr {
	var all []netip.Addr
	for _, text := range r.list(name) {
		address, err := netip.ParseAddr(text)
		if err != nil {
			r.faults = append(r.faults, fmt.Errorf("%s has %q, not an IP address", name, text))
			continue
		}
		all = append(all, address)
	}
	return all
}

func (r *reader) portal() Portal {
	var p Portal
	p.Name, _ = r.lookup(names.EnvPortalName)
	p.Accent, _ = r.lookup(names.EnvPortalAccent)
	if p.Accent != "" && !names.ValidAccent(p.Accent) {
		r.ignore(`%s is %q, not a color such as "#3b5bdb"`, names.EnvPortalAccent, p.Accent)
		p.Accent = ""
	}
	p.Logo, _ = r.lookup(names.EnvPortalLogo)
	if p.Logo != "" && !names.ValidLogo(p.Logo) {
		r.ignore("%s is %q, not an https URL or a data URL of an image, of 900 bytes at most", names.EnvPortalLogo, p.Logo)
		p.Logo = ""
	}
	for _, origin := range r.list(names.EnvPortalEmbedders) {
		if !names.ValidOrigin(origin) {
			r.ignore(`%s has %q, not an origin such as "https://app.example.com"`, names.EnvPortalEmbedders, origin)
			continue
		}
		p.Embedders = append(p.Embedders, origin)
	}
	return p
}

// signIn returns the sign-in of people, or none if a part of it is wrong: then API keys alone open
// the API.
func (r *reader) signIn() names.SignIn {
	s := names.SignIn{
		Issuer:   r.optional(names.EnvOIDCIssuer),
		ClientID: r.optional(names.EnvOIDCClientID),
		Roles:    r.optional(names.EnvOIDCRoles),
		Claim:    r.optional(names.EnvOIDCClaim),
		Scopes:   r.optional(names.EnvOIDCScopes),
		Origins:  r.list(names.EnvOIDCOrigins),
	}
	faults := s.Faults()
	for _, fault := range faults {
		r.ignore("SUREHOOK_OIDC_...: %w", fault)
	}
	if len(faults) > 0 {
		return names.SignIn{}
	}
	return s
}
