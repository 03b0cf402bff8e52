// Package names holds the names shared by infrastructure and code: table keys and indexes,
// metrics and log keys, and the values of settings. Package config has the settings.
package names

import "time"

// Environment variables that the Go runtime reads.
const (
	EnvGarbage     = "GOGC"       // CollectAt
	EnvMemoryLimit = "GOMEMLIMIT" // bytes
)

// Values of SUREHOOK_ENVELOPE, the words of hook.Envelope.
const (
	EnvelopeStandard = "standard"
	EnvelopeRaw      = "raw"
)

// CollectAt is the value of EnvGarbage in the functions: the garbage at which the Go
// runtime collects, in percent of the live heap.
const CollectAt = "400"

// MinRetention is the least value of SUREHOOK_RETENTION: twice the longest max_age. No delivery
// outlives its event, and at least half of the time remains for replays.
const MinRetention = 28 * 24 * time.Hour

// DefaultTenantPath is SUREHOOK_TENANT_PATH for a deployment that names none.
const DefaultTenantPath = "detail.tenant"

// Values of SUREHOOK_EGRESS.
const (
	EgressPublic   = "public"   // https to public addresses only
	EgressLoopback = "loopback" // also http and loopback addresses, for the local stack only
)

// OwnershipChallenge is the value of SUREHOOK_OWNERSHIP: the receiver of an endpoint answers a
// challenge before the endpoint is stored.
const OwnershipChallenge = "challenge"

// Values of SUREHOOK_VALIDATION.
const (
	ValidationOff    = "off"    // events are not checked against event types
	ValidationWarn   = "warn"   // events that do not fit are accepted with warnings
	ValidationReject = "reject" // events that do not fit are refused
)

// TracesXRay is the value of SUREHOOK_TRACES for the endpoint of X-Ray in the region.
const TracesXRay = "xray"

// The table's keys and indexes.
const (
	PartitionKey = "pk"
	SortKey      = "sk"
	ExpiresAt    = "expires_at" // TTL attribute, epoch seconds

	IndexByEndpoint = "by_endpoint"
	ByEndpointHash  = PartitionKey
	ByEndpointRange = "endpoint_sk" // <state>#<created at>#<event>#<generation>
	IndexByState    = "by_state"
	ByStateHash     = "state_pk"
	ByStateRange    = "state_sk"
)

// SecretAdminKeyJSON is the JSON field of the admin key's secret: the key without the prefix.
const SecretAdminKeyJSON = "key"

// Authorizer context keys: results of the authorize function for the functions behind the API.
const (
	AuthKeyID   = "key_id"
	AuthKeyName = "key_name"
	AuthTenant  = "tenant"
	AuthScopes  = "scopes" // comma-separated
	// AuthExpiresAt is the key's expiry in milliseconds since 1970; "" for never.
	AuthExpiresAt = "expires_at"
	AuthNetworks  = "networks" // comma-separated CIDR blocks; "" for every network
)

// Metrics. Each metric but MetricAccepted and MetricWarned is a log field of the same name,
// extracted by CloudWatch under the Embedded Metric Format. Names with a suffix such as _ms have that unit;
// all other metrics are counts. The breaker's tick writes the gauges.
const (
	MetricNamespace    = "Surehook"
	MetricEnvironment  = "environment" // dimension of every metric: the prefix of the stack
	MetricOutcome      = LogOutcome    // second dimension of MetricAttempts: a class of attempts
	MetricAccepted     = "accepted"    // events; counted from log lines by a filter, in the namespace of the stack
	MetricWarned       = "warned"      // accepted events that do not fit their event type; counted like MetricAccepted
	MetricAttempts     = "attempts"    // requests
	MetricAttemptTime  = LogDuration   // of one attempt
	MetricDelivered    = "delivered"   // deliveries
	MetricLatency      = LogLatency    // from the event to the successful delivery
	MetricDead         = "dead"        // deliveries
	MetricParked       = "parked"      // deliveries
	MetricRetried      = "retried"     // attempts after the first
	MetricCircuits     = "circuits_opened"
	MetricAtRisk       = "endpoints_at_risk"     // endpoints whose first loss came near
	MetricOpenCircuits = "circuits_open"         // gauge: open or half-open
	MetricOpenLetters  = "dead_letters_open"     // gauge
	MetricQueue        = LogQueue                // second dimension of MetricPutBack and MetricReceives: a queue's name
	MetricPutBack      = "messages_put_back"     // messages that failed and return to their queue
	MetricReceives     = "put_back_receives"     // receives of one message put back
	MetricSentOn       = "messages_circling"     // tasks, circuit checks and job messages sent on hook.MaxHops times or more
	MetricUnreadable   = "span_lines_unreadable" // log lines from which no span could be made
	MetricUnread       = "records_unreadable"    // records that a list or a batch left out, because a later build wrote them
	MetricUnnotified   = "notifications_failed"
	MetricIgnored      = "settings_ignored"    // wrong settings that a function started without
	MetricRefused      = "requests_refused"    // of the functions, by a resource of the stack that is missing, disabled or not permitted
	MetricResource     = LogResource           // second dimension of MetricRefused: ResourceQueue, ResourceTable or ResourceKey
	MetricRegion       = LogRegion             // second dimension of MetricFallbacks and MetricAnswersLost: the region of a sender
	MetricFallbacks    = "sender_fallbacks"    // attempts from the deployment's region, because the sender of the endpoint's region did not run
	MetricAnswersLost  = "sender_answers_lost" // attempts of senders without an answer; the endpoint may have received the request
	MetricRejected     = "events_rejected"     // messages that became rejects
	MetricEventWait    = "event_wait_ms"       // time since the first message of an event that waits for a limit of its tenant
	MetricSwept        = LogSwept              // deliveries that got a new task in place of a lost one
)

// Kinds of resources, values of MetricResource.
const (
	ResourceQueue = "queue"
	ResourceTable = "table"
	ResourceKey   = "key"
)

// The messages of the lines of an event: its acceptance, each of its attempts, and each
// decision about a delivery without an attempt. Queries, the metric of accepted events and
// the spans read the lines.
const (
	LineIngested  = "event.ingested"
	LineAttempted = "delivery.attempted"
	LineDecided   = "delivery.decided"
)

// Log keys.
const (
	LogTenant        = "tenant"
	LogEvent         = "event_id"
	LogTrace         = "trace_id" // only of a trace given by the caller: a trace that Surehook begins has the UUID of the event
	LogEventType     = "event_type"
	LogEndpoint      = "endpoint_id"
	LogDelivery      = "delivery_id"
	LogAttempt       = "attempt"
	LogOutcome       = "outcome"
	LogStatus        = "status"
	LogDuration      = "duration_ms"
	LogLatency       = "latency_ms"
	LogDecision      = "decision"
	LogReason        = "reason"
	LogNext          = "next_attempt_at"
	LogDeliveries    = "deliveries"
	LogWarnings      = "warnings"  // number of warnings about an event that does not fit its event type
	LogDuplicate     = "duplicate" // only of a repeated post
	LogError         = "error"
	LogCode          = "code" // of a refusal
	LogMessage       = "message_id"
	LogMethod        = "method"
	LogRoute         = "route"
	LogKey           = "key_id"
	LogCircuit       = "circuit"
	LogWave          = "wave"
	LogReleased      = "released"
	LogExpired       = "expired"
	LogCancelled     = "cancelled"
	LogDue           = "due"
	LogFailed        = "failed"
	LogJob           = "job_id"
	LogState         = "state"
	LogSelected      = "selected"
	LogEnqueued      = "enqueued"
	LogShared        = "shared" // endpoints left to other invocations
	LogSkipped       = "skipped"
	LogPages         = "pages"
	LogSeen          = "seen"
	LogRemoved       = "removed"
	LogKept          = "kept"
	LogType          = "type"
	LogActive        = "active"
	LogChanged       = "changed"
	LogSlow          = "slow"
	LogFragile       = "fragile"
	LogTimeout       = "timeout_ms"
	LogWarned        = "warned"
	LogDisabled      = "disabled"
	LogNotifications = "notifications"
	LogQueue         = "queue"
	LogResource      = "resource"
	LogName          = "name"      // of a resource in AWS
	LogOperation     = "operation" // of AWS
	LogHops          = "hops"
	LogVisible       = "visible"       // tasks of the queues of later attempts
	LogVisibleFirst  = "visible_first" // tasks of the queues of first attempts
	LogLate          = "late"          // the queues of later attempts are late, or those of first attempts
	LogBegun         = "begun"         // deliveries of accepted events and of replays
	LogRecorded      = "recorded"      // deliveries that were still queued and got a record
	LogOverdue       = "overdue"
	LogSwept         = "deliveries_swept"
	LogRecord        = "record"
	LogSpans         = "spans"
	LogAudit         = "audit_id"
	LogAction        = "action"
	LogRegion        = "region" // of a sender
)

// Sender returns the name of the function that sends from another region. The name is
// the same in each region of the deployment with the prefix.
func Sender(prefix string) string { return prefix + "-sender" }

// FixedSender returns the name of the function that sends from fixed addresses.
func FixedSender(prefix string) string { return prefix + "-sender-fixed" }

// PrivateSender returns the name of the function that sends in the private network.
func PrivateSender(prefix string) string { return prefix + "-sender-private" }

// Version is the version of this build without a leading "v", such as "1.2.3" or
// "1.2.3-4-g0a1b2c3". The Makefile sets Version from the tag; `go run` and
// `go test` leave the default.
var Version = "dev" //nolint:gochecknoglobals // the linker sets only variables

// UserAgent returns the User-Agent header of every request to an endpoint.
func UserAgent() string { return "Surehook/" + Version }
