package scale

// Quota is the list quotas of a service of AWS in US East (N. Virginia): the defaults of an
// account.
type Quota struct {
	Service string
	Text    string
	Source  string
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
	quotaSTS         = 600.0
)

// byRequest says how to raise a quota.
const byRequest = "Service Quotas"

// quotas returns all quotas, in the order of the document.
func quotas() []Quota {
	return []Quota{
		{
			"API Gateway", number(quotaAPI) + " requests a second.",
			"https://docs.aws.amazon.com/apigateway/latest/developerguide/limits.html",
		},
		{
			"Lambda", number(quotaConcurrency) + " concurrent executions; new accounts may start at 10.",
			"https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html",
		},
		{
			"Event sources of Lambda", number(quotaSource) + " concurrent invocations each, of which 5 at once and " + number(quotaRamp) + " more a minute; not adjustable.",
			"https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-scaling.html",
		},
		{
			"Tables of DynamoDB", number(quotaTable) + " write and as many read units a second.",
			"https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/ServiceQuotas.html",
		},
		{
			"Partition keys", number(quotaKeyWrites) + " write and " + number(quotaKeyReads) + " read units a second; not adjustable.",
			"https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/bp-partition-key-design.html",
		},
		{
			"Scheduler", number(quotaSchedules) + " schedules made, and as many fired, a second.",
			"https://docs.aws.amazon.com/scheduler/latest/UserGuide/scheduler-quotas.html",
		},
		{
			"STS", number(quotaSTS) + " requests a second; not adjustable.",
			"https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_iam-quotas.html",
		},
	}
}
