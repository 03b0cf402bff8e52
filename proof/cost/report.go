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
	Messages   int // on the queues
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
	Keys      Usage // of KMS by a million deliveries, at its dearest
	Bounds    []Bound
}

// String returns the report as Markdown.
func (r Report) String() string {
	var b strings.Builder
	b.WriteString("# What a delivery costs\n\n" +
		"For operators who budget a deployment. After this page you can estimate what a million deliveries and an idle month cost, and know which usage decides.\n" +
		"`make cost` runs the real code over a table in one process, counts and prices every request, and fails when a figure exceeds its bound (`proof/cost`).\n\n" +
		"## USD per million deliveries\n\n")
	r.bills(&b)
	r.beside(&b)
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
	services := slices.DeleteFunc(Services(), func(service Service) bool {
		return !slices.ContainsFunc(r.Scenarios, func(s Scenario) bool { return s.Bill()[service] > 0 })
	})
	b.WriteString("| scenario | how |")
	for _, service := range services {
		fmt.Fprintf(b, " %s |", service)
	}
	b.WriteString(" all |\n|---|---|" + strings.Repeat("--:|", len(services)+1) + "\n")
	for _, s := range r.Scenarios {
		fmt.Fprintf(b, "| %s | %s |", s.Name, s.How)
		bill := s.Bill()
		for _, service := range services {
			fmt.Fprintf(b, " %.2f |", bill[service])
		}
		fmt.Fprintf(b, " **%.2f** |\n", bill.Total())
	}
}

// Prices of a gigabyte: to the internet, in the first tier above the free 100 GB
// (https://aws.amazon.com/ec2/pricing/on-demand/), and of the archive's export
// (https://aws.amazon.com/dynamodb/pricing/on-demand/).
const (
	trafficOut = 0.09
	exported   = 0.10
)

// beside writes what the scenarios leave out, because it depends on the tenants and the payloads.
func (r Report) beside(b *strings.Builder) {
	keys := r.Keys.Bill()[KMS]
	archive := func(s Scenario) float64 {
		return exported * s.Account.Usage[StoredByte] / float64(s.Deliveries) * million / gigabyte
	}
	single, alone, batch := r.Scenarios[0], r.Scenarios[1], r.Scenarios[2]
	fmt.Fprintf(b, "\nBeside this, a million deliveries take %.2f of KMS (20,000 tenants by Zipf's law, each delivery alone in its batch), %.2f for each GB of traffic out (a million requests of 1 KB), and %.2f for the export of prod's daily archive.\n",
		keys, trafficOut, archive(single))
	all := func(s Scenario) float64 { return s.Bill().Total() + keys + trafficOut + archive(s) }
	fmt.Fprintf(b, "All together, with logs, storage and backups: **%.2f** in batches of 100, **%.2f** posted alone, **%.2f** each alone in its batch.\n",
		all(batch), all(single), all(alone))
	fmt.Fprint(b, "\n[Private receivers](private.md) add four alarms, 0.40 a month. A function's network interfaces in a VPC are free, and it needs no endpoint and no NAT gateway. Traffic to another region costs 0.02 for each GB.\n")
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
		{"metrics of alarms", 66, 0.10},
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
	b.WriteString("\nWith traffic come some 25 custom metrics at 0.30 each, 7.50 a month, and traffic out. Each of the first two yearly rotations of the KMS key adds 1.00 a month.\n\n")
	b.WriteString("Open dead letters add at most about 0.50 a month: about 0.29 for 10,000.\n\n")
	fmt.Fprintf(b, "The daily archive of prod is not in the sum: %d to %d state transitions a day, %.2f to %.2f a month at %.2f per million, and S3 by size.\n",
		leastTransitions, mostTransitions, transitions(leastTransitions), transitions(mostTransitions), transitionPrice)
}

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
	b.WriteString("\n## Traces\n\nOff by default. With `TRACES`, a first-try success has two spans.\n\n" +
		"| USD per million spans | Lambda |\n|---|--:|\n")
	fmt.Fprintf(b, "| a line in each batch | %.2f |\n", each.Times(million).Bill().Total())
	fmt.Fprintf(b, "| %d lines in each batch | %.2f |\n", exportLines, each.Times(million/exportLines).Bill().Total())
	fmt.Fprintf(b, "\nAn invocation of function `export` takes %.0f ms with 256 MB, and its two alarms add 0.20 a month. Not counted: its log, traffic out, and X-Ray.\n", exportTime*1000)
}

func assumptions(b *strings.Builder) {
	fmt.Fprintf(b, `- Payloads have 500 bytes. Endpoints respond after %s.
- Functions ingest and deliver have %d MB on arm64, breaker %d MB. An invocation takes %s per request to AWS, %s of work, %s more per event or message, by its share of a processor (1,769 MB have one), and %s for attempts. A TLS handshake takes %s of a
  processor, %s with %d MB; connections rest for %s to endpoints and %s to AWS. Cold starts and the authorizer are left out.
- Batches are full only when messages arrive faster than invocations take them. At a low rate the rows "delivered alone" apply.
- The breaker looks at each delivery once, some minutes later. A delivery that is still queued then gets a record: 1.88 more per million of such deliveries ([decision 5](adr/05-lost-tasks.md)).
- SQS: every request about messages with a group id has the surcharge of fair queues. We have that from a secondary source: check the price list.
- DynamoDB: units are computed from the items, and index rows in a transaction count twice. At low rates the table's KMS key adds at most 0.05 a month.
- Storage and backups are those of prod, for 90 days.
- The mix: 500 endpoints of 5 tenants by Zipf's law, 100 events a second, full batches. Five endpoints take 3 s to answer, and five have a rate limit of one delivery a second. "With failures": about 95 %% succeed at the first attempt.
- Empty queues: %d long polls of 20 s at a time each, where Lambda starts.
`, ReceiverTime, MemoryMB, BreakerMB, RequestTime, InvocationWork, MessageWork, ReceiverTime,
		HandshakeWork, HandshakeTime(1, MemoryMB).Round(time.Millisecond), MemoryMB, EndpointIdle, ServiceIdle, pollers)
}
