package cost

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// million is what prices are per.
const million = 1e6

// Scenario is what was counted of so many deliveries.
type Scenario struct {
	Name, How  string
	Deliveries int
	Messages   int // that were put on the lanes
	Account    Account
}

// Bill returns what a million deliveries cost.
func (s Scenario) Bill() Bill { return s.Account.Usage.Times(million / float64(s.Deliveries)).Bill() }

// USD returns what a million deliveries cost in all.
func (s Scenario) USD() float64 { return s.Bill().Total() }

// WriteUnits returns the write units per delivery.
func (s Scenario) WriteUnits() float64 { return s.Account.Usage[WriteUnit] / float64(s.Deliveries) }

// ReadUnits returns the read units per delivery.
func (s Scenario) ReadUnits() float64 { return s.Account.Usage[ReadUnit] / float64(s.Deliveries) }

// Units returns the units per delivery of what begins with the name, such as "write stats".
func (s Scenario) Units(name string) float64 {
	sum := 0.0
	for kind, n := range s.Account.Units {
		if strings.HasPrefix(kind, name) {
			sum += n
		}
	}
	return sum / float64(s.Deliveries)
}

// Idle is what one run of each schedule uses when nothing happens.
type Idle struct{ Tick, Review, Reconcile Usage }

// How often the schedules run, and what an event source mapping does while its
// queue is empty: Lambda polls with five long polls at a time of 20 s each.
// https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-scaling.html
const (
	ticksADay      = 24 * 60
	reviewsADay    = 24 * 4
	reconcilesADay = 24 * 4
	queues         = 5 // with a function behind them
	pollers        = 5 // of each
	pollsADay      = 24 * 60 * 3
)

// Day returns the usage of a day without an event.
func (i Idle) Day() Usage {
	return i.Tick.Times(ticksADay).Plus(i.Review.Times(reviewsADay)).Plus(i.Reconcile.Times(reconcilesADay)).Plus(Polls())
}

// Polls returns the usage of a day of polling empty queues.
func Polls() Usage { return Usage{QueueRequest: queues * pollers * pollsADay} }

// Bound is what a figure must not exceed.
type Bound struct {
	What     string
	Got      float64
	Promised float64
	Allowed  float64 // where the promise is not kept yet: what must not get worse; otherwise 0
}

// slack is how far a figure may exceed its bound for what happens once and not per delivery.
const slack = 0.02

// Kept reports whether the promise is kept.
func (b Bound) Kept() bool { return b.Got <= b.Promised+slack }

// Exceeded reports whether the figure is over what is allowed.
func (b Bound) Exceeded() bool { return b.Got > max(b.Promised, b.Allowed)+slack }

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
		"Written by `make cost`: the real use cases and adapters run on an emulator, every request of theirs is counted, and priced below.\n" +
		"The same run fails when a bound is exceeded (`internal/proof/cost`).\n\n" +
		"## USD per million deliveries\n\n")
	r.bills(&b)
	b.WriteString("\n## Units and requests per delivery\n\n")
	r.requests(&b)
	r.items(&b)
	b.WriteString("\n## Bounds\n\n| what | measured | promised | kept |\n|---|--:|--:|---|\n")
	for _, bound := range r.Bounds {
		kept := "yes"
		if !bound.Kept() {
			kept = fmt.Sprintf("**no**; must stay below %g", bound.Allowed)
		}
		fmt.Fprintf(&b, "| %s | %.2f | %g | %s |\n", bound.What, bound.Got, bound.Promised, kept)
	}
	b.WriteString("\n## A day without an event, and a month\n\n")
	r.idle(&b)
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
			float64(s.Messages)/n, u[LogByte]/n, u[Invocation]/n, strings.Join(requests, ", "))
	}
}

// items tells how far the items of each kind are from the next write unit.
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

func (r Report) idle(b *strings.Builder) {
	const month = 30
	rows := []struct {
		name  string
		usage Usage
	}{
		{"ticks, every minute", r.Idle.Tick.Times(ticksADay)},
		{"reviews, every 15 minutes", r.Idle.Review.Times(reviewsADay)},
		{"reconciliations, every 15 minutes", r.Idle.Reconcile.Times(reconcilesADay)},
		{"polls of five empty queues", Polls()},
		{"all", r.Idle.Day()},
	}
	b.WriteString("| what | USD a day | USD in 30 days |\n|---|--:|--:|\n")
	for _, row := range rows {
		usd := row.usage.Bill().Total()
		fmt.Fprintf(b, "| %s | %.4f | %.2f |\n", row.name, usd, usd*month)
	}
	b.WriteString("\nFixed by the month and not in any figure above, at list price: custom metrics 0.30 each (some 25 while there is traffic: 7.50;\n" +
		"a metric without values costs nothing), alarms 0.10 each, the dashboard 3.00, the KMS key 1.00, the secret 0.40. Storage is not counted, nor is traffic out (0.09 per GB).\n")
}

func assumptions(b *strings.Builder) {
	fmt.Fprintf(b, `- Events have payloads of 500 bytes of which random text is most, so that they compress by a third; endpoints answer after %s with a few bytes.
- Functions have %d MB on arm64. An invocation takes %s per request to AWS (those of one kind at once count once), %s of work per event or
  message, and %s if it makes attempts. Caches are warm: cold starts, the opening of a secret by KMS (once per sandbox and secret) and the
  authorizer, whose answer the API keeps for five minutes, are not counted.
- An event source receives each batch by one request and deletes it by one. Batches are full (10) or, as the worst case, of one.
- Every request about messages with a group id bears the surcharge of fair queues, receiving and deleting included, which is the most
  expensive reading. The surcharge was read at second hand: check it on the page of prices.
- DynamoDB's units are computed from the items (internal/proof/cost/units.go). Index rows in a transaction count twice, which is the most expensive reading.
- Log bytes are those of the real lines with 26 bytes added to each and the API's access log.
- A scheduled retry is one invocation by the Scheduler and one request to SQS.
- An outage's cost per delivery is the same for 1,000 and for 2,000 events but for what it costs once, so 10,000 are not run.
- The counts of the hour are those of a busy hour nearly over, when their item is largest.
- An empty queue is polled by %d long polls of 20 s at a time, which is how Lambda begins; it may poll less with a low maximum concurrency.
`, ReceiverTime, MemoryMB, RequestTime, WorkTime, ReceiverTime, pollers)
}
