// Package names holds the words that infrastructure and code must agree on:
// environment variables, table keys and indexes, log keys. It knows nothing else.
package names

// Environment variables. infra sets them on the functions, internal/config reads them.
const (
	EnvTable            = "SUREHOOK_TABLE"                // DynamoDB table name
	EnvKey              = "SUREHOOK_KMS_KEY_ARN"          // KMS key that seals endpoint secrets
	EnvLiveQueue        = "SUREHOOK_LIVE_QUEUE_URL"       // lane of first attempts
	EnvRetryQueue       = "SUREHOOK_RETRY_QUEUE_URL"      // lane of later attempts
	EnvRetryQueueARN    = "SUREHOOK_RETRY_QUEUE_ARN"      // the same lane, as a schedule's target
	EnvDeadLettersQueue = "SUREHOOK_DEAD_LETTERS_URL"     // deliveries that gave up
	EnvCircuitsQueue    = "SUREHOOK_CIRCUITS_QUEUE_URL"   // endpoints that the breaker is to look at
	EnvUndeliverable    = "SUREHOOK_UNDELIVERABLE_URL"    // the queue of the next line
	EnvUndeliverableARN = "SUREHOOK_UNDELIVERABLE_ARN"    // dead-letter queue of our own queues and schedules
	EnvScheduleGroup    = "SUREHOOK_SCHEDULE_GROUP"       // EventBridge Scheduler group of retry schedules
	EnvScheduleRole     = "SUREHOOK_SCHEDULE_ROLE_ARN"    // role the Scheduler assumes to send a token
	EnvAdminKeySecret   = "SUREHOOK_ADMIN_KEY_SECRET_ARN" // Secrets Manager secret of the first admin key
	EnvRetention        = "SUREHOOK_RETENTION"            // how long events and deliveries are kept, a Go duration
	EnvEgress           = "SUREHOOK_EGRESS"               // EgressPublic or EgressLoopback
	EnvReplayQueue      = "SUREHOOK_REPLAY_QUEUE_URL"     // lane of replayed deliveries
	EnvReplayJobsQueue  = "SUREHOOK_REPLAY_JOBS_URL"      // replay jobs that have a page to do
	EnvTopic            = "SUREHOOK_TOPIC_ARN"            // SNS topic of operational events and alarms
	EnvEnvironment      = "SUREHOOK_ENVIRONMENT"          // name of the deployment, the one dimension that all metrics have
	EnvRuntimeAPI       = "AWS_LAMBDA_RUNTIME_API"        // host:port of the Lambda runtime API, set by Lambda
)

// Values of EnvEgress.
const (
	EgressPublic   = "public"   // https to public addresses only
	EgressLoopback = "loopback" // also http and loopback addresses: the local stack, never AWS
)

// The table's keys and indexes.
const (
	PartitionKey = "pk"
	SortKey      = "sk"
	ExpiresAt    = "expires_at" // TTL attribute, epoch seconds

	IndexByEndpoint    = "by_endpoint"
	ByEndpointHash     = "endpoint_id"
	ByEndpointRange    = "endpoint_sk" // <state>#<time>#<delivery id>
	IndexByState       = "by_state"
	ByStateHash        = "state_pk"
	ByStateRange       = "state_sk"
	SecretAdminKeyJSON = "key" // JSON field of the admin key's secret that holds the key without its prefix
)

// Authorizer context keys: what the authorize function tells the functions behind it.
const (
	AuthKeyID  = "key_id"
	AuthTenant = "tenant"
	AuthScopes = "scopes" // comma-separated
)

// Metrics. Each is a field of a log line, of the same name, which CloudWatch
// takes it from by the Embedded Metric Format. All are counts but for the names
// that end in a unit; gauges are written by the breaker's tick.
const (
	MetricNamespace    = "Surehook"
	MetricEnvironment  = "environment" // dimension of every metric
	MetricOutcome      = LogOutcome    // second dimension of MetricAttempts: a class of attempts
	MetricNumber       = "number"      // second dimension of MetricAttempts: "1" to "21", as text
	MetricAccepted     = "accepted"    // events
	MetricAttempts     = "attempts"    // requests made
	MetricAttemptTime  = LogDuration   // of one attempt
	MetricDelivered    = "delivered"   // deliveries
	MetricLatency      = LogLatency    // from the event to the delivery's success
	MetricDead         = "dead"        // deliveries
	MetricParked       = "parked"      // deliveries
	MetricRetried      = "retried"     // attempts after the first
	MetricCircuits     = "circuits_opened"
	MetricOpenCircuits = "circuits_open"     // gauge: open or half-open
	MetricOpenLetters  = "dead_letters_open" // gauge
)

// Log keys.
const (
	LogTenant        = "tenant"
	LogEvent         = "event_id"
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
	LogDuplicate     = "duplicate"
	LogError         = "error"
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
)

// Version is the version of this build without a leading "v", such as "1.2.3" or
// "1.2.3-4-g0a1b2c3". The Makefile sets Version from the tag; `go run` and
// `go test` leave the default.
var Version = "dev" //nolint:gochecknoglobals // the linker sets only variables

// UserAgent returns the User-Agent of every delivery.
func UserAgent() string { return "Surehook/" + Version }
