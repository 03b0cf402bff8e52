// Package names holds the names shared by infrastructure and code: environment
// variables, table keys and indexes, metrics and log keys.
package names

import "time"

// Environment variables. Package infra sets the variables, and package config reads them.
const (
	EnvTable                 = "SUREHOOK_TABLE"                   // DynamoDB table name
	EnvKey                   = "SUREHOOK_KMS_KEY_ARN"             // KMS key for the encryption of endpoint secrets
	EnvLiveQueue             = "SUREHOOK_LIVE_QUEUE_URL"          // lane of first attempts
	EnvEventsQueue           = "SUREHOOK_EVENTS_QUEUE_URL"        // events of backends and of EventBridge
	EnvRejectsQueue          = "SUREHOOK_REJECTS_QUEUE_URL"       // rejects of the events queue
	EnvTenantPath            = "SUREHOOK_TENANT_PATH"             // path of the tenant in an event of EventBridge, names separated by dots
	EnvRetryQueue            = "SUREHOOK_RETRY_QUEUE_URL"         // lane of later attempts
	EnvRetryQueueARN         = "SUREHOOK_RETRY_QUEUE_ARN"         // lane of later attempts, as a schedule's target
	EnvSlotQueue             = "SUREHOOK_SLOT_QUEUE_URL"          // lane of single tokens: the reserve of in-flight slots
	EnvOverflowQueue         = "SUREHOOK_OVERFLOW_QUEUE_URL"      // lane of single tokens: the other in-flight slots
	EnvCoalesceQueue         = "SUREHOOK_COALESCE_QUEUE_URL"      // lane of endpoints that get the events of a window together
	EnvTenantPlaces          = "SUREHOOK_TENANT_PLACES"           // places of each tenant in the lane slot, 1 or more
	EnvDeadLettersQueue      = "SUREHOOK_DEAD_LETTERS_URL"        // queue of dead letters
	EnvCircuitsQueue         = "SUREHOOK_CIRCUITS_QUEUE_URL"      // queue of circuit checks
	EnvUndeliverable         = "SUREHOOK_UNDELIVERABLE_URL"       // dead-letter queue of Surehook's own queues, except the retry lane
	EnvUndeliverableRetry    = "SUREHOOK_UNDELIVERABLE_RETRY_URL" // dead-letter queue of the retry lane and of schedules
	EnvUndeliverableRetryARN = "SUREHOOK_UNDELIVERABLE_RETRY_ARN" // ARN of the same queue
	EnvScheduleGroup         = "SUREHOOK_SCHEDULE_GROUP"          // EventBridge Scheduler group of retry schedules
	EnvScheduleRole          = "SUREHOOK_SCHEDULE_ROLE_ARN"       // role of the Scheduler for sending tokens
	EnvAdminKeySecret        = "SUREHOOK_ADMIN_KEY_SECRET_ARN"    // Secrets Manager secret of the first admin key
	EnvRetention             = "SUREHOOK_RETENTION"               // time to keep events and deliveries, a Go duration
	EnvEgress                = "SUREHOOK_EGRESS"                  // EgressPublic or EgressLoopback
	EnvEgressHost            = "SUREHOOK_EGRESS_HOST"             // one more host at private addresses, for the local stack in containers only
	EnvAPIHosts              = "SUREHOOK_API_HOSTS"               // hosts of Surehook's API, separated by commas
	EnvReplayQueue           = "SUREHOOK_REPLAY_QUEUE_URL"        // lane of replayed deliveries
	EnvReplayJobsQueue       = "SUREHOOK_REPLAY_JOBS_URL"         // queue of the messages that continue replay jobs
	EnvTopic                 = "SUREHOOK_TOPIC_ARN"               // SNS topic of operational events and alarms
	EnvTraces                = "SUREHOOK_TRACES"                  // TracesXRay, or the URL of an OTLP endpoint
	EnvValidation            = "SUREHOOK_VALIDATION"              // what happens to events that do not fit their event type: ValidationOff, ValidationWarn or ValidationReject
	EnvEndpointsPerHost      = "SUREHOOK_ENDPOINTS_PER_HOST"      // most endpoints of a tenant with the same host; unset for no limit
	EnvOwnership             = "SUREHOOK_OWNERSHIP"               // OwnershipChallenge; unset for endpoints without proof
	EnvPortalName            = "SUREHOOK_PORTAL_NAME"             // title of the portal; unset for Surehook's
	EnvPortalAccent          = "SUREHOOK_PORTAL_ACCENT"           // color of the portal, "#" and six hexadecimal digits; unset for Surehook's
	EnvPortalLogo            = "SUREHOOK_PORTAL_LOGO"             // logo of the portal, an https URL or a data URL; unset for Surehook's
	EnvPortalEmbedders       = "SUREHOOK_PORTAL_EMBEDDERS"        // origins that may embed the portal, separated by commas; unset for none
	EnvOIDCIssuer            = "SUREHOOK_OIDC_ISSUER"             // issuer of people's tokens; unset for API keys alone, and then the next five are unset, too
	EnvOIDCClientID          = "SUREHOOK_OIDC_CLIENT_ID"          // audience of people's tokens
	EnvOIDCRoles             = "SUREHOOK_OIDC_ROLES"              // groups by role, as ParseRoles reads them
	EnvOIDCClaim             = "SUREHOOK_OIDC_CLAIM"              // claim with the groups of a token; unset for DefaultClaim
	EnvOIDCScopes            = "SUREHOOK_OIDC_SCOPES"             // scopes that the console asks for, separated by spaces; unset for DefaultScopes
	EnvOIDCOrigins           = "SUREHOOK_OIDC_ORIGINS"            // origins of the issuer's token endpoint, if other than the issuer's, separated by commas
	EnvSenderRegions         = "SUREHOOK_SENDER_REGIONS"          // other regions with a sender, separated by commas; unset for none
	EnvFixedAddresses        = "SUREHOOK_FIXED_ADDRESSES"         // addresses of the sender with fixed addresses, separated by commas; unset for none
	EnvEnvelope              = "SUREHOOK_ENVELOPE"                // envelope of a new endpoint that names none: EnvelopeStandard or EnvelopeRaw
	EnvSignatureProfiles     = "SUREHOOK_SIGNATURE_PROFILES"      // JSON of the deployment's own profiles, by name; unset for none
	EnvSignatures            = "SUREHOOK_SIGNATURES"              // profiles of a new endpoint that names none, separated by commas; unset for standard
	EnvPublicURL             = "SUREHOOK_PUBLIC_URL"              // URL of the API, for thin envelopes; unset without a domain
	EnvDestinations          = "SUREHOOK_DESTINATIONS"            // path of the roles of destinations in AWS; unset for none
	EnvAccount               = "SUREHOOK_ACCOUNT"                 // id of the deployment's account, with EnvDestinations
	EnvPrincipal             = "SUREHOOK_PRINCIPAL"               // ARN of the role that assumes the roles of destinations, with EnvDestinations
	EnvEnvironment           = "SUREHOOK_ENVIRONMENT"             // prefix of the stack, a dimension of every metric
	EnvRuntimeAPI            = "AWS_LAMBDA_RUNTIME_API"           // host:port of the Lambda runtime API, set by Lambda
	EnvGarbage               = "GOGC"                             // CollectAt, read by the Go runtime
	EnvMemoryLimit           = "GOMEMLIMIT"                       // bytes, read by the Go runtime
)

// Values of EnvEnvelope, the words of hook.Envelope.
const (
	EnvelopeStandard = "standard"
	EnvelopeRaw      = "raw"
)

// CollectAt is the value of EnvGarbage in the functions: the garbage at which the Go
// runtime collects, in percent of the live heap.
const CollectAt = "400"

// MinRetention is the least value of EnvRetention: twice the longest max_age. No delivery
// outlives its event, and at least half of the time remains for replays.
const MinRetention = 28 * 24 * time.Hour

// DefaultTenantPath is EnvTenantPath for a deployment that names none.
const DefaultTenantPath = "detail.tenant"

// Values of EnvEgress.
const (
	EgressPublic   = "public"   // https to public addresses only
	EgressLoopback = "loopback" // also http and loopback addresses, for the local stack only
)

// OwnershipChallenge is the value of EnvOwnership: the receiver of an endpoint answers a
// challenge before the endpoint is stored.
const OwnershipChallenge = "challenge"

// Values of EnvValidation.
const (
	ValidationOff    = "off"    // events are not checked against event types
	ValidationWarn   = "warn"   // events that do not fit are accepted with warnings
	ValidationReject = "reject" // events that do not fit are refused
)

// TracesXRay is the value of EnvTraces for the endpoint of X-Ray in the region.
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
	MetricNumber       = "number"      // second dimension of MetricAttempts: "1" to "21", as text
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
	MetricOpenCircuits = "circuits_open"         // gauge: open or half-open
	MetricOpenLetters  = "dead_letters_open"     // gauge
	MetricQueue        = LogQueue                // second dimension of MetricPutBack and MetricReceives: a queue's name
	MetricPutBack      = "messages_put_back"     // messages that failed and return to their queue
	MetricReceives     = "put_back_receives"     // receives of one message put back
	MetricSentOn       = "messages_circling"     // tokens, circuit checks and job messages sent on hook.MaxHops times or more
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
	MetricSwept        = LogSwept              // deliveries that got a new token in place of a lost one
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
	LogVisible       = "visible"       // tokens of the lanes of later attempts
	LogVisibleFirst  = "visible_first" // tokens of the lanes of first attempts
	LogLate          = "late"          // the lanes of later attempts are late, or those of first attempts
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

// Version is the version of this build without a leading "v", such as "1.2.3" or
// "1.2.3-4-g0a1b2c3". The Makefile sets Version from the tag; `go run` and
// `go test` leave the default.
var Version = "dev" //nolint:gochecknoglobals // the linker sets only variables

// UserAgent returns the User-Agent header of every request to an endpoint.
func UserAgent() string { return "Surehook/" + Version }
