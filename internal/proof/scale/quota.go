package scale

// Quota is a list quota of AWS in US East (N. Virginia): the default of an account.
type Quota struct {
	Name   string
	Value  float64
	Raised string // how to raise the quota
	Source string
}

// The values of the quotas.
const (
	quotaAPI         = 10_000.0
	quotaConcurrency = 1_000.0
	quotaSource      = 1_000.0
	quotaRamp        = 300.0
	quotaTable       = 40_000.0
	quotaKeyWrites   = 1_000.0
	quotaKeyReads    = 3_000.0
	quotaSchedules   = 1_000.0
	quotaKMS         = 10_000.0
)

// How to raise a quota.
const (
	byRequest = "Service Quotas"
	fixed     = "not adjustable"
)

// quotas returns all quotas, in the order of the document.
func quotas() []Quota {
	return []Quota{
		{
			"API Gateway: requests of an account and region per second", quotaAPI, byRequest,
			"https://docs.aws.amazon.com/apigateway/latest/developerguide/limits.html",
		},
		{
			"Lambda: concurrent executions of an account and region", quotaConcurrency, byRequest + "; new accounts may start at 10",
			"https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html",
		},
		{
			"Lambda: maximum concurrency of one event source", quotaSource, fixed,
			"https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-scaling.html",
		},
		{
			"Lambda: concurrent invocations that an event source adds per minute, from 5", quotaRamp, fixed,
			"https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-scaling.html",
		},
		{
			"DynamoDB: write units, and read units, of a table per second", quotaTable, byRequest,
			"https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/ServiceQuotas.html",
		},
		{
			"DynamoDB: write units of one partition key per second", quotaKeyWrites, fixed,
			"https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/bp-partition-key-design.html",
		},
		{
			"DynamoDB: read units of one partition key per second", quotaKeyReads, fixed,
			"https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/bp-partition-key-design.html",
		},
		{
			"Scheduler: schedules created per second, and fired per second", quotaSchedules, byRequest + "; less in other regions",
			"https://docs.aws.amazon.com/scheduler/latest/UserGuide/scheduler-quotas.html",
		},
		{
			"KMS: requests about symmetric keys per second", quotaKMS, byRequest + "; less in other regions",
			"https://docs.aws.amazon.com/kms/latest/developerguide/requests-per-second.html",
		},
	}
}
