package scale

import (
	"fmt"
	"math"
	"strings"

	"surehook.example/surehook/internal/proof/cost"
)

// Constants of other packages. TestConstants holds the constants to their packages.
const (
	waveSize       = 500 // deliveries of a wave of releases, package breaker
	waveSeconds    = 2.0
	reviewsPerTime = 50.0  // endpoints per second that a function reviews: 1,000 in 20 s
	reviewSeconds  = 900.0 // from one review to the next
	dueCircuits    = 10_000
	maxShards      = 16  // of an endpoint, package hook
	maxEndpoints   = 500 // of a tenant, docs/limits.md
	apiConcurrency = 150.0
)

// workloads returns the columns of the document.
func workloads() []Workload {
	return []Workload{
		{Name: "posted alone", Scenario: Alone, PerPost: 1},
		{Name: "in batches of 100", Scenario: InBatch, PerPost: 100},
		{Name: "in batches of 100, each connection new", Scenario: InBatch, PerPost: 100, Fresh: 1},
		{Name: "the same, and 2 % hang", Scenario: InBatch, PerPost: 100, Fresh: 1, Hanging: hangingShare},
	}
}

// Report returns docs/scale.md for the settings of prod.
func Report(s Settings, measured map[string]Measured) string {
	var b strings.Builder
	b.WriteString(`# What one stack carries

For operators who plan capacity. After this page you know which limit comes first at your rate, and which setting or quota to raise.
` + "`make scale`" + ` writes it from the settings of prod (` + "`infra/surehook/environments.go`" + `), the units of [cost.md](cost.md) and the quotas below. The figures are arithmetic: the stack has never run on AWS.

`)
	writeCarries(&b, s, measured)
	writePlans(&b, s, measured)
	writeOne(&b, s, measured)
	writeBacklog(&b, s, measured)
	writeSenders(&b, s)
	writeEventsQueue(&b, s)
	writeAssumptions(&b, s)
	return b.String()
}

func writeCarries(b *strings.Builder, s Settings, measured map[string]Measured) {
	b.WriteString("## Events per second\n\nOne endpoint per event. The limit in bold comes first.\n\n")
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
	fmt.Fprintf(b, "\nA hanging delivery holds its whole batch for %v.\n\n", HangTime)
}

func writePlans(b *strings.Builder, s Settings, measured map[string]Measured) {
	rates := []struct {
		name      string
		perSecond float64
	}{{"10,000 a minute", 10_000.0 / 60}, {"1,000 a second", 1_000}, {"10,000 a second", 10_000}}
	fmt.Fprintf(b, `## Settings for three rates

For peaks of %d times the rate, %.0f %% hanging deliveries, and a new connection for each delivery. Settings are for each stack, and never below prod's.

| setting | prod |`, headroom, hangingShare*100)
	plans := make([]Plan, len(rates))
	for i, rate := range rates {
		plans[i] = PlanFor(s, measured, rate.perSecond)
		fmt.Fprintf(b, " %s |", rate.name)
	}
	b.WriteString("\n|---|--:|" + strings.Repeat("--:|", len(rates)) + "\n")
	live, _ := s.source("Live") // ReadTemplate has checked the lane
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
	row("quota: units of a table, at least", number(quotaTable), func(p Plan) string { return number(max(p.WriteUnits, p.ReadUnits)) })
	b.WriteString(`
Raise ` + "`Throttles.Default`" + ` with the other throttles, of which it is the upper bound. Give ` + "`Concurrency.Retry`" + ` the share of failures: a tenth of the lane live for one failed attempt in ten. Concurrency above the account's
quota throttles all functions, so raise the quota first. Several stacks are [cells](cells.md).

`)
}

func writeOne(b *strings.Builder, s Settings, measured map[string]Measured) {
	const tenantUnits = 1 // of the read of the tenant's item, with every post
	circuits, _ := s.source("Circuits")
	sandboxes := s.concurrency("Deliver")
	b.WriteString("## One tenant, one endpoint, many of them\n\n| of | bound | by |\n|---|--:|---|\n")
	row := func(of, bound, by string) { fmt.Fprintf(b, "| %s | %s | %s |\n", of, bound, by) }
	row("posts of one tenant per second", number(quotaKeyReads/tenantUnits), "one read unit of the tenant's partition key with every post; a batch of 100 is one post")
	row("deliveries per second to one endpoint, 1 shard", number(quotaKeyWrites), "one write unit of the shard's partition key with every delivery")
	row(fmt.Sprintf("the same, %d shards", maxShards), number(quotaKeyWrites*maxShards), "the same; `shards` of the endpoint")
	row("endpoints of one tenant", number(maxEndpoints), "[limits](limits.md)")
	row("endpoints active in two hours", number(circuits.Concurrency*reviewsPerTime*reviewSeconds), "the review every 15 minutes, with all functions of `Concurrency.Circuits`; half of the figure leaves room for circuits")
	row("endpoints with an open circuit and a lost check, per minute", number(dueCircuits), "one tick")
	row("tenants active in an hour", number(math.Floor(quotaKMS*3600/sandboxes)), "one KMS request per tenant, hour and function of `deliver`")
	row("deliveries per second that fail for ever", number(math.Floor(quotaSchedules/measured[Dead].Schedules)),
		fmt.Sprintf("%s schedules for each over the whole policy; open circuits park deliveries and need no schedules", number(measured[Dead].Schedules)))
	b.WriteString("\nTenants and endpoints without traffic take storage only.\n\n")
}

func writeBacklog(b *strings.Builder, s Settings, measured map[string]Measured) {
	live, _ := s.source("Live") // ReadTemplate has checked the lane
	lane := live.Concurrency * live.Batch / deliverTime(live.Batch, 0, 1).Seconds()
	drain := min(lane, s.WriteUnits/measured[InBatch].WriteUnits, s.ReadUnits/measured[InBatch].ReadUnits)
	ramp := (live.Concurrency - 5) / quotaRamp * 60
	fmt.Fprintf(b, `## A backlog

The lane live of prod drains %s deliveries a second, after a ramp of %.0f s from 5 functions to %s:

| waiting | with no new events | with 1,000 new events a second |
|--:|--:|--:|
`, number(drain), ramp, number(live.Concurrency))
	for _, waiting := range []float64{100_000, 1_000_000, 10_000_000} {
		fmt.Fprintf(b, "| %s | %s | %s |\n", number(waiting), minutes(waiting/drain), minutes(waiting/(drain-1000)))
	}
	fmt.Fprintf(b, `
Parked deliveries of one fast endpoint return in waves of at most %d every %.0f s: %.0f a second, %s for a million.

`, waveSize, waveSeconds, waveSize/waveSeconds, minutes(1_000_000/(waveSize/waveSeconds)))
}

func writeSenders(b *strings.Builder, s Settings) {
	fmt.Fprintf(b, `## Senders

Each attempt takes one execution of a sender, and function deliver makes up to %s attempts at the same time.

| sender | executions | attempts a second, answered after %v | attempts a second that hang for %v | above |
|---|--:|--:|--:|---|
`, number(s.attempts()), cost.ReceiverTime, HangTime)
	row := func(name string, has float64, above string) {
		fmt.Fprintf(b, "| %s | %s | %s | %s | %s |\n", name, number(has), number(has/cost.ReceiverTime.Seconds()), number(has/HangTime.Seconds()), above)
	}
	row("of another region, with the quota of its region", quotaConcurrency, "the own region sends")
	row("`sender-fixed`, with `Concurrency.FixedSender`", fixedSender, "the message returns with its back-off; no attempt is counted")
	fmt.Fprintf(b, `
The executions of `+"`sender-fixed`"+` are reserved, used or not: with fixed addresses, %s of the event sources, %s of the sender and %s of the API take %s of the account. Senders of other regions count there, where
a new account often has 10.

`, number(s.concurrency("")), number(fixedSender), number(apiConcurrency), number(s.concurrency("")+fixedSender+apiConcurrency))
}

func writeEventsQueue(b *strings.Builder, s Settings) {
	const batch = 10 // messages of the events queue
	fmt.Fprintf(b, "## The events queue\n\nAt most %s events a second: %s functions (`Concurrency.Events`) with batches of %d.\n\n",
		number(s.concurrency("Ingest")*batch/ingestTime(batch).Seconds()), number(s.concurrency("Ingest")), batch)
}

func writeAssumptions(b *strings.Builder, s Settings) {
	fmt.Fprintf(b, `## Assumptions

- Endpoints answer after %v, a hanging delivery takes %v, the default timeout, and batches are full. The rest is as in [cost.md](cost.md#assumptions).
- The event sources:`, cost.ReceiverTime, HangTime)
	for i, source := range s.Sources {
		if i > 0 {
			b.WriteString(",")
		}
		fmt.Fprintf(b, " %s (%s functions, batches of %s)", source.Queue, number(source.Concurrency), number(source.Batch))
	}
	fmt.Fprintf(b, ". Together %s concurrent executions.\n", number(s.concurrency("")))
	b.WriteString(`- An event to several endpoints counts once for the throttles, and as several deliveries for lane and table.

## Quotas

Defaults of an account in US East (N. Virginia), November 2026. Check yours in the console of Service Quotas.

| quota | default | raise | source |
|---|--:|---|---|
`)
	for _, q := range quotas() {
		fmt.Fprintf(b, "| %s | %s | %s | <%s> |\n", q.Name, number(q.Value), q.Raised, q.Source)
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
