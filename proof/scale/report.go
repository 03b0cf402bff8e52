package scale

import (
	"fmt"
	"math"
	"strings"

	"surehook.example/surehook/internal/aws/destination"
	"surehook.example/surehook/proof/cost"
)

// Constants of other packages. TestConstants holds the constants to their packages.
const (
	waveSize       = 500 // deliveries of a wave of releases, package breaker
	waveSeconds    = 1.0
	reviewsPerTime = 50.0  // endpoints per second that a function reviews: 1,000 in 20 s
	reviewSeconds  = 900.0 // from one review to the next
	maxShards      = 16    // of an endpoint, package hook
)

// workloads returns the columns of the document.
func workloads() []Workload {
	return []Workload{
		{Name: "posted alone", Scenario: Alone, PerPost: 1},
		{Name: "in batches of 100, on new connections", Scenario: InBatch, PerPost: 100, Fresh: 1},
		{Name: "the same, 2 % hang", Scenario: InBatch, PerPost: 100, Fresh: 1, Hanging: hangingShare},
	}
}

// Report returns docs/scale.md for the settings of prod.
func Report(s Settings, measured map[string]Measured) string {
	var b strings.Builder
	b.WriteString(`# What one stack carries

For operators who plan capacity. After this page you know which limit comes first at your rate, and which setting or quota to raise.
` + "`make scale`" + ` computes the figures from the settings of prod (` + "`infra/surehook/environments.go`" + `), the units of [cost.md](cost.md) and the quotas below.

`)
	writeCarries(&b, s, measured)
	writePlans(&b, s, measured)
	writeOne(&b, s, measured)
	writeBacklog(&b, s, measured)
	writeSenders(&b, s)
	writeAssumptions(&b)
	return b.String()
}

func writeCarries(b *strings.Builder, s Settings, measured map[string]Measured) {
	b.WriteString("## Events per second\n\nOne endpoint per event. Bold: the first limit.\n\n")
	b.WriteString("| limit | has | raise |")
	columns := workloads()
	carries := make([]map[string]float64, len(columns))
	first := make([]string, len(columns))
	for i, w := range columns {
		fmt.Fprintf(b, " %s |", w.Name)
		carries[i] = map[string]float64{}
		for _, limit := range Limits(s, measured, w) {
			carries[i][limit.Name] = limit.Carries
			if first[i] == "" {
				first[i] = limit.Name
			}
		}
	}
	b.WriteString("\n|---|--:|---|" + strings.Repeat("--:|", len(columns)) + "\n")
	for _, limit := range Limits(s, measured, columns[0]) {
		name := limit.Name
		has, raise := number(limit.Has), limit.Raise
		switch {
		case name == "throttle of the route":
			has, raise = number(s.Throttles[RouteEvents])+"; "+number(s.Throttles[RouteBatch]), "`Throttles.Events`, `Throttles.Batch`"
		case limit.Setting != "":
			raise = strings.Replace(raise, "the setting", "`"+limit.Setting+"`", 1)
		}
		fmt.Fprintf(b, "| %s | %s | %s |", name, has, raise)
		for i := range columns {
			figure := number(carries[i][name])
			if first[i] == name {
				figure = "**" + figure + "**"
			}
			fmt.Fprintf(b, " %s |", figure)
		}
		b.WriteString("\n")
	}
	const batch = 10 // messages of the events queue
	fmt.Fprintf(b, "\nThe events queue takes in at most %s events a second: %s functions (`Concurrency.Events`) with batches of %d.\n\n",
		number(s.concurrency("Ingest")*batch/ingestTime(batch).Seconds()), number(s.concurrency("Ingest")), batch)
}

func writePlans(b *strings.Builder, s Settings, measured map[string]Measured) {
	rates := []struct {
		name      string
		perSecond float64
	}{{"10,000 a minute", 10_000.0 / 60}, {"1,000 a second", 1_000}, {"10,000 a second", 10_000}}
	fmt.Fprintf(b, `## Settings for three rates

For peaks of %d times the rate, and for %.0f %% hanging deliveries at the rate itself, with a new connection for each. Settings are per stack, and never below prod's.

| setting | prod |`, headroom, hangingShare*100)
	plans := make([]Plan, len(rates))
	for i, rate := range rates {
		plans[i] = PlanFor(s, measured, rate.perSecond)
		fmt.Fprintf(b, " %s |", rate.name)
	}
	b.WriteString("\n|---|--:|" + strings.Repeat("--:|", len(rates)) + "\n")
	live, _ := s.source("Live") // ReadTemplate has checked the queue
	row := func(name, prod string, of func(Plan) string) {
		fmt.Fprintf(b, "| %s | %s |", name, prod)
		for _, p := range plans {
			fmt.Fprintf(b, " %s |", of(p))
		}
		b.WriteString("\n")
	}
	row("stacks", "1", func(p Plan) string { return number(p.Stacks) })
	row("events of a post", "", func(p Plan) string { return number(p.PerPost) })
	row("`Throttles.Events.PerSecond`", number(s.Throttles[RouteEvents]), func(p Plan) string { return number(p.Events) })
	row("`Throttles.Batch.PerSecond`", number(s.Throttles[RouteBatch]), func(p Plan) string { return number(p.Batch) })
	row("`Concurrency.Live`", number(live.Concurrency), func(p Plan) string { return number(p.Live) })
	row("`WarmThroughput.WriteUnits`", number(s.WriteUnits), func(p Plan) string { return number(p.WriteUnits) })
	row("`WarmThroughput.ReadUnits`", number(s.ReadUnits), func(p Plan) string { return number(p.ReadUnits) })
	row("quota: concurrent executions, at least", number(quotaConcurrency), func(p Plan) string { return number(p.Account) })
	b.WriteString(`
Raise the quota first: concurrency above it throttles all functions. ` + "`Throttles.Default`" + ` bounds the other throttles. If one attempt in ten fails, the queue retry needs a tenth of the queue live: prod's ` + "`Concurrency.Retry`" + ` is enough. Several stacks are [cells](cells.md).

`)
}

func writeOne(b *strings.Builder, s Settings, measured map[string]Measured) {
	const tenantUnits = 1 // of the read of the tenant's item, with every post
	circuits, _ := s.source("Circuits")
	b.WriteString("## One tenant, one endpoint, many of them\n\n| of | bound | by |\n|---|--:|---|\n")
	row := func(of, bound, by string) { fmt.Fprintf(b, "| %s | %s | %s |\n", of, bound, by) }
	row("posts of one tenant per second, alone or in batches", number(quotaKeyReads/tenantUnits), "a read unit of the tenant's partition key each")
	row(fmt.Sprintf("deliveries per second to one endpoint, for each of 1 to %d `shards`", maxShards), number(quotaKeyWrites), "a write unit of the shard's partition key each")
	row("endpoints active in two hours", number(circuits.Concurrency*reviewsPerTime*reviewSeconds), "the reviews, if they use all of `Concurrency.Circuits`")
	row(fmt.Sprintf("[destinations in AWS](destinations.md) active in %.0f minutes", destination.SessionUse.Minutes()),
		number(math.Floor(quotaSTS*destination.SessionUse.Seconds()/s.concurrency("Deliver"))), "a session of STS per endpoint, that time and function of `deliver`")
	row(fmt.Sprintf("deliveries per second to more than %s of them", number(destination.Sessions)), number(quotaSTS), "a session each, because a function keeps no more; others are retried")
	row("deliveries per second that fail for ever", number(math.Floor(quotaSchedules/measured[Dead].Schedules)),
		number(measured[Dead].Schedules)+" schedules each, while the circuit is closed")
	b.WriteString("\nWithout traffic, tenants and endpoints take storage only.\n\n")
}

func writeBacklog(b *strings.Builder, s Settings, measured map[string]Measured) {
	live, _ := s.source("Live") // ReadTemplate has checked the queue
	queue := live.Concurrency * live.Batch / deliverTime(live.Batch, 0, 1).Seconds()
	drain := min(queue, s.WriteUnits/measured[InBatch].WriteUnits, s.ReadUnits/measured[InBatch].ReadUnits)
	ramp := (live.Concurrency - 5) / quotaRamp * 60
	fmt.Fprintf(b, `## A backlog

With a new table, the queue live of prod drains %s deliveries a second, after a ramp of %.0f s to %s functions:

| waiting | with no new events | with 1,000 new events a second |
|--:|--:|--:|
`, number(drain), ramp, number(live.Concurrency))
	for _, waiting := range []float64{100_000, 1_000_000, 10_000_000} {
		fmt.Fprintf(b, "| %s | %s | %s |\n", number(waiting), minutes(waiting/drain), minutes(waiting/(drain-1000)))
	}
	fmt.Fprintf(b, `
Parked deliveries of one fast endpoint return in waves, %.0f a second: %s for a million.

`, waveSize/waveSeconds, minutes(1_000_000/(waveSize/waveSeconds)))
}

func writeSenders(b *strings.Builder, s Settings) {
	fmt.Fprintf(b, `## Senders

Each attempt takes one execution of a sender, and `+"`deliver`"+` makes up to %s attempts at once.

| sender | executions | attempts a second, answered after %v | hanging for %v | above |
|---|--:|--:|--:|---|
`, number(s.attempts()), cost.ReceiverTime, HangTime)
	row := func(name string, has float64, above string) {
		fmt.Fprintf(b, "| %s | %s | %s | %s | %s |\n", name, number(has), number(has/cost.ReceiverTime.Seconds()), number(has/HangTime.Seconds()), above)
	}
	row("of another region, with its quota", quotaConcurrency, "the own region sends")
	row("`sender-fixed`", fixedSender, "the delivery waits")
	b.WriteString("\n")
}

func writeAssumptions(b *strings.Builder) {
	fmt.Fprintf(b, `## Assumptions

Endpoints answer after %v, a hanging delivery takes %v, the default timeout, and batches are full. An event to several endpoints counts once for the throttles, and as several deliveries for queue and table. The rest is as in [cost.md](cost.md#assumptions).

The quotas are the defaults of an account in US East, November 2026; other regions may have less. Check yours in Service Quotas.

`, cost.ReceiverTime, HangTime)
	for _, q := range quotas() {
		fmt.Fprintf(b, "- [%s](%s): %s\n", q.Service, q.Source, q.Text)
	}
}

// number writes a whole number with separators of thousands, or a small one with one
// decimal.
func number(f float64) string {
	if f < 10 && f != math.Trunc(f) {
		return fmt.Sprintf("%.1f", f)
	}
	digits := fmt.Sprintf("%.0f", f)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

// minutes writes a duration in seconds.
func minutes(seconds float64) string {
	switch {
	case seconds < 0:
		return "never"
	case seconds < 120:
		return fmt.Sprintf("%.0f s", seconds)
	case seconds < 2*3600:
		return fmt.Sprintf("%.0f min", seconds/60)
	}
	return fmt.Sprintf("%.1f h", seconds/3600)
}
