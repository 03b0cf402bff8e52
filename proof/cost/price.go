package cost

import "math"

// Service is an AWS service, a line of the bill.
type Service string

// The services.
const (
	API       Service = "API Gateway"
	Lambda    Service = "Lambda"
	SQS       Service = "SQS"
	DynamoDB  Service = "DynamoDB"
	Scheduler Service = "Scheduler"
	Logs      Service = "Logs"
	SNS       Service = "SNS"
	AccessLog Service = "Access log"
	KMS       Service = "KMS"
	Storage   Service = "Storage"
	Backups   Service = "Backups"
)

// Services returns all services, in the order of a delivery's path. The records and their
// backups stay for the retention.
func Services() []Service {
	return []Service{API, AccessLog, Lambda, SQS, DynamoDB, Scheduler, Logs, SNS, KMS, Storage, Backups}
}

// Charge is a unit with a price.
type Charge uint8

// The charges. The zero Charge is not valid.
const (
	APIRequest   Charge = iota + 1 // of an HTTP API, per 512 KB
	Invocation                     // of a function
	GBSecond                       // of a function on arm64
	QueueRequest                   // of a standard queue, per 64 KB
	FairRequest                    // the surcharge of a request about messages with a group id
	WriteUnit                      // of DynamoDB, on demand
	ReadUnit                       // of DynamoDB, on demand
	Schedule                       // a schedule, with the call of its target
	LogByte                        // of CloudWatch Logs, standard class
	Publication                    // of SNS, per 64 KB
	KeyRequest                     // of KMS, symmetric
	AccessByte                     // of the API's access log
	StoredByte                     // of DynamoDB for the retention, index rows included
	BackedByte                     // of point-in-time recovery for the retention
)

// Price is a list price.
type Price struct {
	Charge  Charge
	Service Service
	Name    string
	USD     float64 // for Per units
	Per     float64
	Source  string
}

// Retention of the records in prod (infra/surehook/environments.go), in months of 30 days.
const (
	RetentionDays = 90
	retention     = RetentionDays / month
)

// PricesOf is the place and the time of Prices.
const PricesOf = "US East (N. Virginia), November 2026, first tier of volume, beyond the free tier"

// Prices returns AWS's list prices.
func Prices() []Price {
	return []Price{
		{APIRequest, API, "request of an HTTP API", 1.00, million, "https://aws.amazon.com/api-gateway/pricing/"},
		{Invocation, Lambda, "invocation", 0.20, million, "https://aws.amazon.com/lambda/pricing/"},
		{GBSecond, Lambda, "GB-second, arm64", 13.3334, million, "https://aws.amazon.com/lambda/pricing/"},
		{QueueRequest, SQS, "request of a standard queue, per 64 KB", 0.40, million, "https://aws.amazon.com/sqs/pricing/"},
		{FairRequest, SQS, "surcharge of a request about messages with a group id", 0.10, million, "https://aws.amazon.com/sqs/pricing/"},
		{WriteUnit, DynamoDB, "write request unit", 0.625, million, "https://aws.amazon.com/dynamodb/pricing/on-demand/"},
		{ReadUnit, DynamoDB, "read request unit", 0.125, million, "https://aws.amazon.com/dynamodb/pricing/on-demand/"},
		{Schedule, Scheduler, "invocation by a schedule", 1.00, million, "https://aws.amazon.com/eventbridge/pricing/"},
		{LogByte, Logs, "GB ingested, standard class", 0.50, gigabyte, "https://aws.amazon.com/cloudwatch/pricing/"},
		{AccessByte, AccessLog, "GB of vended logs ingested", 0.50, gigabyte, "https://aws.amazon.com/cloudwatch/pricing/"},
		{StoredByte, Storage, "GB in the table for 90 days, 0.25 a month", 0.25 * retention, gigabyte, "https://aws.amazon.com/dynamodb/pricing/on-demand/"},
		{BackedByte, Backups, "GB of point-in-time recovery for 90 days, 0.20 a month", 0.20 * retention, gigabyte, "https://aws.amazon.com/dynamodb/pricing/on-demand/"},
		{Publication, SNS, "publication, per 64 KB", 0.50, million, "https://aws.amazon.com/sns/pricing/"},
		{KeyRequest, KMS, "request about a symmetric key", 3.00, million, "https://aws.amazon.com/kms/pricing/"},
	}
}

// gigabyte is what AWS prices storage and traffic by.
const gigabyte = 1 << 30

// Usage is the used quantity of each charge.
type Usage map[Charge]float64

// Plus returns the sum of both.
func (u Usage) Plus(other Usage) Usage {
	sum := make(Usage, len(u))
	for _, add := range []Usage{u, other} {
		for charge, n := range add {
			sum[charge] += n
		}
	}
	return sum
}

// Times returns the usage multiplied by n.
func (u Usage) Times(n float64) Usage {
	product := make(Usage, len(u))
	for charge, used := range u {
		product[charge] = used * n
	}
	return product
}

// Bill is a cost in USD, by service.
type Bill map[Service]float64

// Bill prices the usage.
func (u Usage) Bill() Bill {
	bill := make(Bill)
	for _, p := range Prices() {
		bill[p.Service] += u[p.Charge] * p.USD / p.Per
	}
	return bill
}

// Total returns the sum in USD, rounded to 10 decimal places: a hundredth of a cent per million.
func (b Bill) Total() float64 {
	sum := 0.0
	for _, service := range Services() {
		sum += b[service]
	}
	return math.Round(sum*1e10) / 1e10
}
