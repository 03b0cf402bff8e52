package cost

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"
)

// million is the quantity of a price.
const million = 1e6

// Scenario is the counts of a number of deliveries.
type Scenario struct {
	Name, How  string
	Deliveries int
	Messages   int // on the lanes
	Account    Account
	Parts      bool // the document shows the parts of the bill
}

// Bill returns the cost of a million deliveries.
func (s Scenario) Bill() Bill { return s.Account.Usage.Times(million / float64(s.Deliveries)).Bill() }

// USD returns the cost of a million deliveries, without the storage of their records.
func (s Scenario) USD() float64 {
	bill := s.Bill()
	delete(bill, Storage)
	delete(bill, Backups)
	return bill.Total()
}

// WriteUnits returns the write units per delivery.
func (s Scenario) WriteUnits() float64 { return s.Account.Usage[WriteUnit] / float64(s.Deliveries) }

// ReadUnits returns the read units per delivery.
func (s Scenario) ReadUnits() float64 { return s.Account.Usage[ReadUnit] / float64(s.Deliveries) }

// Units returns the units per delivery of all kinds with the prefix, such as "write stats".
func (s Scenario) Units(name string) float64 {
	sum := 0.0
	for kind, n := range s.Account.Units {
		if strings.HasPrefix(kind, name) {
			sum += n
		}
	}
	return sum / float64(s.Deliveries)
}

// Idle is the usage of one run of each schedule without traffic.
type Idle struct{ Tick, Review, Reconcile, Sweep Usage }

// Runs of the schedules, and polls of an empty queue: Lambda makes five long
// polls of 20 s at a time, three a minute for each poller.
// https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-scaling.html
const (
	ticksADay      = 24 * 60
	reviewsADay    = 24 * 4
	reconcilesADay = 24 * 4
	sweepsADay     = 24 * 12
	queues         = 9 // with a function behind them
	pollers        = 5 // of each
	pollsADay      = 24 * 60 * 3
)

// Day returns the usage of a day without an event.
func (i Idle) Day() Usage {
	return i.Tick.Times(ticksADay).Plus(i.Review.Times(reviewsADay)).Plus(i.Reconcile.Times(reconcilesADay)).
		Plus(i.Sweep.Times(sweepsADay)).Plus(Polls()).Plus(TableKey())
}

// TableKey returns the usage of a day of one process that uses the table: DynamoDB asks KMS
// for the table's key after five minutes without a request of the caller, and here once in
// five minutes, the more expensive reading.
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/encryption.usagenotes.html
func TableKey() Usage { return Usage{KeyRequest: 24 * 60 / 5} }

// Polls returns the usage of a day of polling empty queues.
func Polls() Usage { return Usage{QueueRequest: queues * pollers * pollsADay} }

// Bound is a limit of a figure.
type Bound struct {
	What     string
	Got      float64
	Promised float64
	Slack    float64 // for costs that are fixed and not per delivery
}

// Kept reports whether the promise is kept.
func (b Bound) Kept() bool { return b.Got <= b.Promised+b.Slack }

// Report is the whole of docs/cost.md.
type Report struct {
	Scenarios []Scenario
	Idle      Idle
	Bounds    []Bound
}

// String returns the report as Markdown.
func (r Report) String() string {
	var b strings.Builder
	b.WriteString("# What a delivery costs\n\n" +
		"`make cost` writes this document. The command runs the real use cases and adapters over a table in one process, counts every request, and prices each request.\n" +
		"The command fails when a figure exceeds its bound (`internal/proof/cost`).\n\n" +
		"## USD per million deliveries\n\n")
	r.bills(&b)
	b.WriteString("\n## Where the money goes\n\n")
	r.parts(&b)
	b.WriteString("\n## Units and requests per delivery\n\n")
	r.requests(&b)
	r.items(&b)
	b.WriteString("\n## Bounds\n\n| what | measured | promised | kept |\n|---|--:|--:|---|\n")
	for _, bound := range r.Bounds {
		kept := "yes"
		if !bound.Kept() {
			kept = "**no**"
		}
		fmt.Fprintf(&b, "| %s | %.2f | %g | %s |\n", bound.What, bound.Got, bound.Promised, kept)
	}
	b.WriteString("\n## An idle month\n\n")
	r.idle(&b)
	traces(&b)
	b.WriteString("\n## Assumptions\n\n")
	assumptions(&b)
	b.WriteString("\n## Prices\n\n" + PricesOf + ".\n\n| what | USD | per | source |\n|---|--:|--:|---|\n")
	for _, p := range Prices() {
		fmt.Fprintf(&b, "| %s: %s | %g | %.0f | <%s> |\n", p.Service, p.Name, p.USD, p.Per, p.Source)
	}
	return b.String()
}

func (r Report) bills(b *strings.Builder) {
	b.WriteString("| scenario | how |")
	for _, service := range Services() {
		fmt.Fprintf(b, " %s |", service)
	}
	b.WriteString(" all |\n|---|---|" + strings.Repeat("--:|", len(Services())+1) + "\n")
	for _, s := range r.Scenarios {
		fmt.Fprintf(b, "| %s | %s |", s.Name, s.How)
		bill := s.Bill()
		for _, service := range Services() {
			fmt.Fprintf(b, " %.2f |", bill[service])
		}
		fmt.Fprintf(b, " **%.2f** |\n", bill.Total())
	}
}

func (r Report) requests(b *strings.Builder) {
	b.WriteString("| scenario | write units | of them stats | read units | messages | log bytes | invocations | requests |\n|---|--:|--:|--:|--:|--:|--:|---|\n")
	for _, s := range r.Scenarios {
		n := float64(s.Deliveries)
		var requests []string
		for _, name := range slices.Sorted(maps.Keys(s.Account.Requests)) {
			requests = append(requests, fmt.Sprintf("%s %.3g", name, s.Account.Requests[name]/n))
		}
		u := s.Account.Usage
		fmt.Fprintf(b, "| %s | %.2f | %.2f | %.2f | %.2f | %.0f | %.2f | %s |\n", s.Name, s.WriteUnits(), s.Units("write stats"), s.ReadUnits(),
			float64(s.Messages)/n, math.Round((u[LogByte]+u[AccessByte])/n/100)*100, u[Invocation]/n, strings.Join(requests, ", "))
	}
}

// items writes the size of the largest item of each kind.
func (r Report) items(b *strings.Builder) {
	largest := make(map[string]int)
	for _, s := range r.Scenarios {
		for kind, size := range s.Account.Sizes {
			largest[kind] = max(largest[kind], size)
		}
	}
	var items []string
	for _, kind := range slices.Sorted(maps.Keys(largest)) {
		items = append(items, fmt.Sprintf("%s %d", kind, largest[kind]))
	}
	fmt.Fprintf(b, "\nThe largest items that were written, in bytes (a write unit is 1,024): %s.\n", strings.Join(items, ", "))
}

// monthly is a cost per month, independent of use.
type monthly struct {
	name  string
	count int
	usd   float64 // each
}

// month is the number of days of a month in the report.
const month = 30

// fixed returns the monthly costs of the prod stack at list price. A test of the
// documents compares the counts with the template of the stack. An alarm costs
// its price for each of its metrics.
func fixed() []monthly {
	return []monthly{
		{"metrics of alarms", 57, 0.10},
		{"gauges of the breaker, custom metrics", 2, 0.30},
		{"dashboard", 1, 3.00},
		{"KMS key", 1, 1.00},
		{"secret of the admin key", 1, 0.40},
	}
}

// every returns the name of runs with their interval.
func every(runs string, aDay int) string {
	if minutes := 24 * 60 / aDay; minutes > 1 {
		return fmt.Sprintf("%s, every %d minutes", runs, minutes)
	}
	return runs + ", every minute"
}

func (r Report) idle(b *strings.Builder) {
	rows := []struct {
		name  string
		usage Usage
	}{
		{every("ticks", ticksADay), r.Idle.Tick.Times(ticksADay)},
		{every("reviews", reviewsADay), r.Idle.Review.Times(reviewsADay)},
		{every("reconciliations", reconcilesADay), r.Idle.Reconcile.Times(reconcilesADay)},
		{every("sweeps", sweepsADay), r.Idle.Sweep.Times(sweepsADay)},
		{"polls of nine empty queues", Polls()},
		{"requests to KMS for the key of the table", TableKey()},
	}
	b.WriteString("| item | USD in 30 days |\n|---|--:|\n")
	for _, row := range rows {
		fmt.Fprintf(b, "| %s | %.2f |\n", row.name, row.usage.Bill().Total()*month)
	}
	all := r.Idle.Day().Bill().Total() * month
	for _, f := range fixed() {
		usd := float64(f.count) * f.usd
		all += usd
		fmt.Fprintf(b, "| %s: %d at %.2f | %.2f |\n", f.name, f.count, f.usd, usd)
	}
	fmt.Fprintf(b, "| **an idle month of prod** | **%.2f** |\n", all)
	b.WriteString("\nThe free tier covers a part. Each of the first two yearly rotations of the KMS key adds 1.00 a month. Traffic adds custom metrics, at 0.30 each:\n" +
		"some 25 metrics, 7.50 a month; a metric without values costs nothing. Traffic out is not counted (0.09 per GB).\n\n")
	fmt.Fprintf(b, "AWS charges once for the raised warm throughput of the table and its two indexes, when prod is made: for %d write units and %d read units a second more than\n"+
		"a new table has. The sum does not have this charge: look up the price of a unit under \"Warm throughput\" at <https://aws.amazon.com/dynamodb/pricing/on-demand/>.\n"+
		"`WarmThroughput` in `infra/surehook/environments.go` can be empty: DynamoDB then grows with the traffic.\n\n",
		warmTables*(warmWrites-newWrites), warmTables*(warmReads-newReads))
	b.WriteString("Dead letters cost little more while they are open: the breaker reads 200 of them every 15 minutes, and up to 20,000 at each run of the first hour of a day\n" +
		"(UTC). 10,000 open letters add about 0.29 a month, and any number above 20,000 about 0.50.\n\n")
	fmt.Fprintf(b, "The archive of prod (an export a day) is not in the sum, because the time of an export decides the number of polls: %d to %d state transitions a day, %.2f\n"+
		"to %.2f a month at %.2f per million. DynamoDB charges an export by the size of the changes, and S3 by the size of the files.\n",
		leastTransitions, mostTransitions, transitions(leastTransitions), transitions(mostTransitions), transitionPrice)
}

// Warm throughput of prod (infra/surehook/environments.go), of a new table, and the number of
// tables and indexes.
const (
	warmWrites, warmReads = 18_000, 30_000
	newWrites, newReads   = 4_000, 12_000
	warmTables            = 3
)

// State transitions of the archive's state machine in a day (infra/surehook/archive_states.go):
// Day, Any?, Export and Done, and Wait, Describe and Done? for each poll. A poll every 5
// minutes for at most 12 hours makes 1 to 144 polls. Repeated calls are left out.
// https://aws.amazon.com/step-functions/pricing/
const (
	leastTransitions = 4 + 3
	mostTransitions  = 4 + 3*12*60/5
	transitionPrice  = 25.00 // USD per million of a standard workflow
)

// transitions returns the cost of a month with so many transitions a day.
func transitions(daily float64) float64 { return daily * month * transitionPrice / million }

// The export of spans, in an environment with traces. The subscription counts as
// free, and each batch of lines is one invocation.
const (
	exportGB    = 0.25 // memory of the function
	exportTime  = 0.1  // s of one invocation: the decoding and one request
	exportLines = 10   // lines of a full batch, as assumed
)

// traces writes the cost of the export of a million spans.
func traces(b *strings.Builder) {
	each := Usage{Invocation: 1, GBSecond: exportGB * exportTime}
	b.WriteString("\n## Traces\n\nOff by default. With `TRACES`, the function `export` gets the line of each accepted event and of each attempt: two spans for a first-try success.\n\n" +
		"| USD per million spans | Lambda |\n|---|--:|\n")
	fmt.Fprintf(b, "| a line in each batch | %.2f |\n", each.Times(million).Bill().Total())
	fmt.Fprintf(b, "| %d lines in each batch | %.2f |\n", exportLines, each.Times(million/exportLines).Bill().Total())
	fmt.Fprintf(b, "\nAn invocation takes %.0f ms with 256 MB. The two alarms of the function add 0.20 a month. The subscription counts as free. The log of `export`, the traffic out,\n"+
		"and what X-Ray or the endpoint charges are not counted.\n", exportTime*1000)
}

func assumptions(b *strings.Builder) {
	fmt.Fprintf(b, `- Events have payloads of 500 bytes, mostly random text, compressed by a third. Endpoints respond after %s with a few bytes.
- Functions ingest and deliver have %d MB on arm64, function breaker %d MB. An invocation takes %s per request to AWS (concurrent requests of a kind count
  once), %s of work and %s more per event or message, by a processor of which the function has its share (1,769 MB have one), and %s for attempts.
  The work is measured with the real code, without TLS. A TLS handshake takes %s more of a whole processor, %s of a function with %d MB. Connections to
  endpoints rest for %s at most, connections to AWS for %s: rows "delivered alone" make a new one to the endpoint, to DynamoDB and to SQS, and the other rows those that
  their rate needs. Caches are warm: the figures leave out cold starts, the decryption of a data key by KMS (once per sandbox, tenant and hour)
  and the authorizer, because the API caches its result for a minute.
- An event source receives each batch with one request and deletes the batch with one. Batches are full (10) or, as the worst case, of one message.
  The event source of the live lane waits for no batch, so batches are full only when messages arrive faster than invocations take them. The rows with
  batches of 10 hold at such a rate. At a low rate, a delivery is alone in its batch: the rows "delivered alone" apply. Other rates cost between the two.
- The breaker looks at each delivery once, some minutes after its event, in batches of 1,000 changes of the table's stream: half a read unit, and 0.01 for the
  invocation. Lambda reads the stream for free. A delivery that is still queued then, because a lane is late or its window is long, gets a record: 3.00 write
  units more, 1.88 per million of such deliveries ([decision 5](adr/05-lost-tokens.md)). At a low rate a batch is smaller, of the changes of 5
  minutes in a shard of the stream: with 4 shards at most 0.02 a month.
- Every request about messages with a group id has the surcharge of fair queues, including receives and deletes. A cheaper reading of the price list
  is possible. The surcharge comes from a secondary source: check the price list.
- DynamoDB's units are computed from the items (`+"`internal/proof/cost/units.go`"+`). Index rows in a transaction count twice. A cheaper
  reading is possible.
- Log bytes are the bytes of the real lines, plus 26 bytes for each line, plus the API's access log. The table rounds to hundreds.
- Storage and backups are those of prod: records stay 90 days, and DynamoDB adds 100 bytes to each item and each row of an index. The backups of point-in-time
  recovery cost the size of the table without its indexes. The archive in S3 is not counted.
- The table's key is the one of DynamoDB in KMS, which asks KMS once in five minutes for each process: nothing per million at these rates. An event and a delivery alone in
  five minutes are two requests, 6.00 per million and at most 0.05 a month.
- SNS is counted by publication. The price of a message to a subscriber of the operators' topic depends on the protocol, and is not counted.
- A scheduled retry is one invocation by the Scheduler and one request to SQS.
- Beyond its fixed cost, an outage costs the same per delivery for 1,000 and for 2,000 events, so the run leaves out 10,000.
- One endpoint has 40 deliveries a minute, and 100 a second with full batches: at a lower rate, batches are not full. The hour is near its end, with the
  largest item of counts.
- The mix: 500 endpoints of 5 tenants, with popularity by Zipf's law (s = 1), in steady state: 100 events a second with one delivery each, drawn with a
  seed, full delivery batches from all endpoints, and 4 processes of function deliver. Five endpoints take 3 s to answer, and five have a rate limit of one
  delivery a second. The ten minutes before have the same rates, so busy endpoints hold successes back. "With failures": 6 %% of the attempts
  fail that have no attempt of the same endpoint beside them, so some 95 %% of the deliveries succeed at the first attempt. The attempts of a retry lane are in small batches.
  The rows of the mix differ below 1 %% from run to run: the order of concurrent settlements decides whose held successes a settlement writes.
- %d long polls of 20 s at a time poll an empty queue: Lambda's start value. Lambda may poll less with a low maximum concurrency.
`, ReceiverTime, MemoryMB, BreakerMB, RequestTime, InvocationWork, MessageWork, ReceiverTime,
		HandshakeWork, HandshakeTime(1, MemoryMB).Round(time.Millisecond), MemoryMB, EndpointIdle, ServiceIdle, pollers)
}
