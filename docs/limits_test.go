package docs_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"surehook.example/surehook/internal/admin/audit"
	"surehook.example/surehook/internal/admin/erasure"
	"surehook.example/surehook/internal/admin/ownership"
	lists "surehook.example/surehook/internal/admin/page"
	"surehook.example/surehook/internal/admin/reject"
	"surehook.example/surehook/internal/admin/search"
	"surehook.example/surehook/internal/aws/kms"
	"surehook.example/surehook/internal/delivery/backlog"
	"surehook.example/surehook/internal/delivery/ingest"
	"surehook.example/surehook/internal/delivery/replay"
	"surehook.example/surehook/internal/delivery/send"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/admission"
	"surehook.example/surehook/internal/rule/circuit"
	"surehook.example/surehook/internal/rule/condition"
	"surehook.example/surehook/internal/rule/decimal"
	"surehook.example/surehook/internal/rule/filter"
	"surehook.example/surehook/internal/rule/latency"
	"surehook.example/surehook/internal/rule/retry"
	"surehook.example/surehook/internal/rule/review"
	"surehook.example/surehook/internal/rule/schema"
	"surehook.example/surehook/internal/rule/shape"
	"surehook.example/surehook/internal/rule/stats"
)

// TestLimits holds every row of the tables of limits to the constants of the
// code: the numbers of a row are those of its constants, in this order.
func TestLimits(t *testing.T) {
	t.Parallel()

	const kib = 1 << 10
	days := func(d time.Duration) int { return int(d / (24 * time.Hour)) }
	seconds, minutes, hours := time.Duration.Seconds, time.Duration.Minutes, time.Duration.Hours
	want := map[string][]any{
		"payload":                       {hook.MaxPayload / kib},
		"request body":                  {hook.MaxPayload/kib + 16, hook.MaxBatchBytes / kib, written(t, "internal/httpapi", `maxBody += (\d+) << 10`)},
		"batch":                         {hook.MaxBatchEvents},
		"tenant":                        {hook.MaxTenantID},
		"event type":                    {128},
		"event types of an environment": {hook.MaxTypesPerEnvironment},
		"schema of an event type":       {hook.MaxSchema / kib, schema.MaxValues, schema.MaxDepth, schema.MaxPatterns, schema.MaxDepth},
		"example of an event type":      {hook.MaxExample / kib},
		"group of an event type":        {hook.MaxGroup},
		"wrong fields of an answer": {
			written(t, "internal/httpapi", `maxWrong = (\d+)`), written(t, "internal/httpapi", `maxBody += (\d+) << 10`), 1,
		},
		"check of a payload": {schema.MaxSteps, schema.MaxErrors},
		"filters of all endpoints for the events of a request": {ingest.MaxFilterSteps, hook.DefaultEndpoints},
		"checks of the events of a request":                    {ingest.MaxCheckSteps},
		"array or map of a body, except a payload":             {written(t, "internal/httpapi", `maxElements = (\d+)`)},
		"age of the event types in a function":                 {seconds(ingest.TypesAge)},
		"contract with event types":                            {written(t, "internal/httpapi", `maxTypes = (\d+) << 10`)},
		"idempotency key":                                      {hook.MaxIdempotencyKey},
		"endpoints of a tenant":                                {hook.DefaultEndpoints, hook.MaxEndpointsPerTenant},
		"events_per_second":                                    {1, hook.MaxEventsPerSecond, 1},
		"deliveries_per_event":                                 {1, hook.MaxDeliveriesPerEvent, hook.MaxDeliveriesPerEvent, hook.MaxTargets},
		"endpoints":                                            {1, hook.MaxEndpointsPerTenant, hook.DefaultEndpoints},
		"replays_per_hour":                                     {1, hook.MaxReplaysPerHour, 1},
		"changes_per_hour":                                     {1, hook.MaxChangesPerHour, 1},
		"retain_for":                                           {days(hook.MinRetention)},
		"message of the events queue":                          {written(t, "infra/surehook", `maxEventMessage = (\d+) << 10`)},
		"wait of a message past `events_per_second`":           {written(t, "internal/rule/retry", `maxRedelivery\s+= (\d+) \* time\.Minute`)},
		"rejects":                             {written(t, "infra/surehook", `queueRetention = (\d+) \* day`), lists.MaxLimit, reject.MaxRedrive, written(t, "internal/admin/reject", `redriveTime = (\d+) \* time\.Second`)},
		"endpoints of a tenant with one URL":  {hook.MaxEndpointsPerURL},
		"running replay jobs of a tenant":     {replay.MaxOpenJobs},
		"URL":                                 {hook.MaxURL, 443, 8443, 80, 8080},
		"test events":                         {ingest.TestsPerMinute},
		"challenge to a new URL":              {seconds(ownership.Timeout), hook.MaxSuccessBody, ownership.PerMinute},
		"event types of an endpoint":          {hook.MaxEventTypes},
		"numbers that a filter compares":      {decimal.MaxDigits, decimal.MaxExponent},
		"filter of an endpoint":               {filter.MaxBytes, filter.MaxDepth, filter.MaxValues, filter.MaxSteps},
		"uid":                                 {hook.MaxUID},
		"description":                         {hook.MaxDescription},
		"metadata":                            {hook.MaxMetadata, hook.MaxMetadataKey, hook.MaxMetadataValue},
		"headers":                             {hook.MaxHeaders, hook.MaxHeaderName, hook.MaxHeaderValue},
		"TLS settings":                        {hook.MaxTLSCA / kib, hook.MaxTLSCertificate / kib, hook.MaxTLSKey / kib, hook.MaxTLSRSA, 256, 384, 25519},
		"endpoints of a tenant with one host": {403},
		"expression":                          {shape.MaxExpression, written(t, "internal/rule/shape", `maxNodes += (\d+)`), written(t, "internal/rule/shape", `maxNesting += (\d+)`)},
		"steps of an evaluation":              {written(t, "internal/rule/shape", `maxSteps += (\d+)`), written(t, "internal/rule/shape", `charactersPerStep = (\d+)`), hook.BytesPerStep, written(t, "internal/rule/shape", `exactSteps = (\d+)`)},
		"memory of an evaluation":             {shape.MaxMemory >> 20, written(t, "internal/rule/shape", `smallPlaces = (\d+)`), written(t, "internal/rule/shape", `smallSteps += (\d+)`)},
		"endpoints in `ingest`":               {ingest.MaxDirectory >> 20},
		"schemas in `ingest`":                 {ingest.MaxTypes >> 20},
		"expressions in `deliver`":            {written(t, "internal/rule/shape", `maxExpressions += (\d+) << 20`)},
		"TLS settings in `deliver`":           {written(t, "internal/delivery/attempt", `maxMaterials = (\d+) << 20`), written(t, "internal/delivery/send", `maxTransports += (\d+) << 20`)},
		"access tokens, sessions in AWS, opened secrets and keys in `deliver`": {
			written(t, "internal/delivery/send", `maxTokens += (\d+) << 20`), written(t, "internal/aws/destination", `maxSessions += (\d+) << 20`), kms.MaxBytes >> 20,
		},
		"addresses of a short TLS handshake in `deliver`": {written(t, "internal/delivery/egress", `maxShort = (\d+) << 10`)},
		"bodies of an event for all its endpoints":        {shape.MaxTogether >> 20},
		"body of a transformation":                        {shape.MaxBody / kib, written(t, "internal/rule/shape", `maxDepth += (\d+)`)},
		"own signature profiles of a deployment":          {written(t, "infra/surehook", `maxSetting = (\d+)`), hook.MaxProfiles},
		"template of a profile":                           {written(t, "internal/hook", `maxProfileText += (\d+)`), written(t, "internal/hook", `maxProfileHeaders += (\d+)`), written(t, "internal/hook", `maxProfilePart += (\d+)`)},
		"destination in AWS":                              {written(t, "internal/rule/destination", `\^\[A-Za-z0-9\._/-\]\{1,(\d+)\}\$`), written(t, "internal/rule/destination", `maxGroupPath = (\d+)`)},
		"authentication": {
			hook.MaxAuthUsername, hook.MaxAuthPassword, hook.MaxAuthToken, hook.MaxClientID, hook.MaxAuthToken, hook.MaxOAuthScope,
			8 * kib, written(t, "internal/delivery/send", `maxTokenAnswer += (\d+) << 10`),
		},
		"overlap of a rotation":                       {0, days(hook.MaxRotationOverlap), hours(hook.DefaultRotationOverlap)},
		"decisions about an endpoint":                 {written(t, "internal/aws/dynamo", `historyKept = (\d+) \* 24 \* time\.Hour`)},
		"coalesce.window":                             {seconds(hook.MinCoalesceWindow), minutes(hook.MaxCoalesceWindow)},
		"coalesce.max_events":                         {1, hook.MaxCoalesceEvents, hook.DefaultCoalesceEvents},
		"coalesce.max_bytes":                          {hook.MinCoalesceBytes / kib, hook.MaxCoalesceBytes / kib, hook.DefaultCoalesceBytes / kib},
		"timeout of an attempt":                       {seconds(hook.MinTimeout), seconds(hook.MaxTimeout), seconds(hook.DefaultTimeout)},
		"max_age":                                     {seconds(hook.MinMaxAge), days(hook.MaxMaxAge), hours(hook.DefaultMaxAge), seconds(hook.MinMaxAgeAfterWindow), minutes(hook.MinMaxAgeOfRate)},
		"attempts":                                    {2, hook.MaxAttempts},
		"delay between attempts":                      {1, days(hook.MaxDelay)},
		"factor of exponential delays":                {1, hook.MaxExponentialFactor},
		"retry_on, give_up_on":                        {hook.MaxStatuses},
		"max_retry_after":                             {seconds(hook.MinMaxRetryAfter), hours(hook.MaxMaxRetryAfter), hours(hook.DefaultMaxRetryAfter)},
		"response body kept":                          {hook.MaxResponseBody / kib, hook.MaxSuccessBody, hook.MaxLastBody},
		"rate_per_second":                             {hook.MinRatePerSecond, hook.MaxRatePerSecond},
		"max_in_flight":                               {1, hook.MaxMaxInFlight},
		"circuit.failures":                            {1, hook.MaxCircuitFailures, hook.DefaultCircuitFailures},
		"circuit.rate":                                {hook.MinCircuitRate, 1, minutes(circuit.Window), hook.DefaultCircuitRate},
		"circuit.minimum":                             {1, hook.MaxCircuitMinimum, minutes(circuit.Window), hook.DefaultCircuitMinimum},
		"circuit.cooldown":                            {seconds(hook.MinCooldown), hours(hook.MaxCooldown), seconds(hook.DefaultCooldown)},
		"circuit.max_cooldown":                        {hours(hook.MaxCooldown), hours(hook.DefaultMaxCooldown)},
		"rate of a replay job":                        {replay.MinRate, replay.MaxRate, replay.DefaultRate},
		"filter of a replay job":                      {replay.MaxTypes},
		"limit of a replay job":                       {replay.MaxLimit},
		"replay job":                                  {days(replay.KeepJobs)},
		"generations of a delivery":                   {hook.MaxGeneration},
		"end of replays":                              {days(hook.MaxMaxAge)},
		"note of a discard or cancel":                 {hook.MaxNote},
		"analysis":                                    {hours(replay.MinPeriod), hours(replay.MaxPeriod), written(t, "internal/httpapi", `defaultPeriod = (\d+)`), replay.MaxAnalysed},
		"requests of a page of deliveries":            {written(t, "internal/admin/status", `moreRequests = (\d+)`)},
		"requests of a page of events":                {hook.UntargetedShards},
		"shards of the endpoints of a list":           {written(t, "internal/admin/status", `maxParts = (\d+)`)},
		"way to a sender and back":                    {seconds(send.Transit)},
		"zones with fixed addresses":                  {0, written(t, "infra/surehook", `mostZones = (\d+)`)},
		"targets of an event, with those added later": {hook.MaxTargets},
		"pages of lists":                              {lists.MaxLimit, lists.MaxBytes / kib},
		"percentiles":                                 {5, latency.Shortest.Milliseconds(), seconds(latency.Longest)},
		"percentiles of event types":                  {25, latency.Shortest.Milliseconds(), seconds(latency.Longest)},
		"statistics": {
			written(t, "internal/admin/status", `statsDays += (\d+)`), written(t, "internal/admin/status", `defaultStats += (\d+) \* time\.Hour`),
		},
		"hours of statistics":                   {strings.ReplaceAll(written(t, "internal/admin/status", `maxEndpointHours = ([\d_]+)`), "_", "")},
		"event types of an endpoint in an hour": {stats.MaxTypes},
		"rows of statistics": {
			written(t, "internal/admin/status", `maxTotalGroups += (\d+)`), written(t, "internal/admin/status", `maxHourlyGroups += (\d+)`),
		},
		"health of a tenant":                                  {int(hours(condition.Span)) + 1, hook.DefaultEndpoints},
		"records of changes":                                  {days(hook.AuditKept), audit.MaxRead, written(t, "internal/httpapi", `maxRefused = (\d+) << 10`), written(t, "internal/httpapi", `maxValue\s+= (\d+) << 10`)},
		"erasure of a tenant":                                 {written(t, "internal/aws/dynamo", `scannedPages\s+= (\d+)`), days(erasure.Keep)},
		"shards":                                              {1, hook.MaxShards, 1},
		"in-flight slots of a deployment":                     {slots(t, "prod"), slots(t, "staging"), slots(t, "dev")},
		"types and filters of a tenant's endpoints":           {written(t, "internal/aws/dynamo", `maxRowPages = (\d+)`), 403, hook.DefaultEndpoints},
		"list of a tenant's endpoints":                        {hook.MaxEndpointsPerTenant/100 + 3, hook.MaxEndpointsPerTenant},
		"counts of an endpoint's waiting and dead deliveries": {backlog.Exact, written(t, "internal/delivery/backlog", `leastRows = (\d+)`)},
		"read units to count at a look, whatever waits":       {10, 6, 1.5},
		"count by a review": {
			hours(review.Span), minutes(review.Every), strings.ReplaceAll(written(t, "internal/delivery/breaker", `countMany = ([\d_]+)`), "_", ""),
			written(t, "internal/delivery/breaker", `countTimeout = (\d+) \* time\.Second`), 25, 1000,
		},
		"search for an id": {search.MaxText, written(t, "internal/admin/search", `It reads at most (\d+) records`), written(t, "internal/admin/search", `records, in (\d+) requests`)},
		"events, deliveries and attempts": {
			written(t, "infra/surehook", `staging.Name, staging.Retention, .+ = "staging", (\d+)\*day`), written(t, "infra/surehook", `Name: +"dev",\s+Choices: +Choices{Retention: (\d+) \* day`),
		},
	}
	got := make(map[string]bool)
	for _, row := range limits(t) {
		got[row[0]] = true
		numbers, ok := want[row[0]]
		if !ok {
			t.Errorf("docs/limits.md has the row %q; want a row that this test knows", row[0])
		}
		var texts []string
		for _, n := range numbers {
			texts = append(texts, fmt.Sprint(n))
		}
		if diff := cmp.Diff(texts, numbersOf(row[1])); diff != "" {
			t.Errorf("numbers of the limit %q (-code +document):\n%s", row[0], diff)
		}
	}
	for name := range want {
		if !got[name] {
			t.Errorf("docs/limits.md has no row %q", name)
		}
	}
}

// TestErasedTenant holds the retention of an erased tenant's remains in docs/privacy.md to
// the constants of the code.
func TestErasedTenant(t *testing.T) {
	t.Parallel()

	days := func(d time.Duration) string { return fmt.Sprintf("%g days", d.Hours()/24) }
	want := map[string]string{ // the beginning of each cell
		"records of changes":    days(hook.AuditKept) + " each",
		"the job":               days(erasure.Keep) + " after its end",
		"counts that a process": days(stats.Kept) + " after their hour",
		"tasks, circuit check":  "up to " + written(t, "infra/surehook", `queueRetention = (\d+) \* day`) + " days",
	}
	for _, row := range document(t, "docs/privacy.md").table(t, "What", "Until") {
		for what, until := range want {
			if strings.HasPrefix(row[0], what) {
				if delete(want, what); !strings.HasPrefix(row[1], until) {
					t.Errorf("docs/privacy.md keeps %q: %q; want %q", row[0], row[1], until)
				}
			}
		}
	}
	for what := range want {
		t.Errorf("docs/privacy.md has no row about %s", what)
	}
}

// written returns the number that the pattern finds in the Go files of the
// folder: for constants that are not exported.
func written(t *testing.T, folder, pattern string) string {
	t.Helper()

	var found []string
	for _, file := range files(t) {
		if strings.HasPrefix(file, folder+"/") && strings.HasSuffix(file, ".go") && !strings.HasSuffix(file, "_test.go") {
			for _, match := range regexp.MustCompile(pattern).FindAllStringSubmatch(read(t, file), -1) {
				found = append(found, match[1])
			}
		}
	}
	if len(found) != 1 {
		t.Fatalf("%s has %d constants that match %s; want 1", folder, len(found), pattern)
	}
	return found[0]
}

// slots returns the in-flight slots of the environment.
func slots(t *testing.T, env string) string {
	t.Helper()

	return written(t, "infra/surehook", `(?s)Name[^"]*"`+env+`",.*?Slots: (\d+)`)
}

// limits returns the rows of all tables of docs/limits.md.
func limits(t *testing.T) [][]string {
	t.Helper()

	p := document(t, "docs/limits.md")
	var rows [][]string
	for {
		_, rest, ok := strings.Cut(p.prose, "\n## ")
		if !ok {
			return rows
		}
		p.prose = rest
		rows = append(rows, p.table(t, "subject", "limit")...)
	}
}

// numbersOf returns the numbers of a text without its code spans.
func numbersOf(text string) []string {
	text = regexp.MustCompile("`[^`]+`").ReplaceAllString(text, "")
	return regexp.MustCompile(`\d+(?:\.\d+)?`).FindAllString(text, -1)
}

// TestCircuitSettings holds the table of settings in docs/circuit.md to the
// constants of the code.
func TestCircuitSettings(t *testing.T) {
	t.Parallel()

	want := map[string]string{
		"`circuit.failures`":     fmt.Sprintf("%d | 1 to %d", hook.DefaultCircuitFailures, hook.MaxCircuitFailures),
		"`circuit.rate`":         fmt.Sprintf("%g | %g to 1", hook.DefaultCircuitRate, hook.MinCircuitRate),
		"`circuit.minimum`":      fmt.Sprintf("%d | 1 to %d", hook.DefaultCircuitMinimum, hook.MaxCircuitMinimum),
		"`circuit.cooldown`":     fmt.Sprintf("`%s` | `%s` to `%s`", hook.FormatDuration(hook.DefaultCooldown), hook.FormatDuration(hook.MinCooldown), hook.FormatDuration(hook.MaxCooldown)),
		"`circuit.max_cooldown`": fmt.Sprintf("`%s`, or a longer cooldown | the cooldown to `%s`", hook.FormatDuration(hook.DefaultMaxCooldown), hook.FormatDuration(hook.MaxCooldown)),
		"`rate_per_second`":      fmt.Sprintf("0: no limit | %g to %g", hook.MinRatePerSecond, hook.MaxRatePerSecond),
		"`max_retry_after`":      fmt.Sprintf("`%s` | `%s` to `%s`", hook.FormatDuration(hook.DefaultMaxRetryAfter), hook.FormatDuration(hook.MinMaxRetryAfter), hook.FormatDuration(hook.MaxMaxRetryAfter)),
		"`max_in_flight`":        fmt.Sprintf("0: no limit | 1 to %d", hook.MaxMaxInFlight),
	}
	got := make(map[string]string)
	for _, row := range document(t, "docs/circuit.md").table(t, "field", "default", "bounds", "meaning") {
		got[row[0]] = row[1] + " | " + row[2]
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("settings of a circuit (-code +document):\n%s", diff)
	}
}

// TestAdmission holds the table of the gate's decisions to the rows of the code, in their order.
func TestAdmission(t *testing.T) {
	t.Parallel()

	var got []string
	for _, row := range document(t, "docs/circuit.md").table(t, "condition", "decision", "until") {
		got = append(got, row[0])
	}
	if diff := cmp.Diff(admission.Conditions(), got); diff != "" {
		t.Errorf("conditions (-code +document):\n%s", diff)
	}
}

// TestPresets holds the table of retry presets to package retry: a policy made
// of each row plans the same times as its preset.
func TestPresets(t *testing.T) {
	t.Parallel()

	rows := document(t, "docs/api.md").table(t, "preset", "delays after each failure", "attempts", "jitter")
	if len(rows) != len(retry.Presets()) {
		t.Fatalf("%d presets; want %d", len(rows), len(retry.Presets()))
	}
	for i, name := range retry.Presets() {
		preset, row := hook.RetryPolicy{Preset: name}, rows[i]
		if !strings.HasPrefix(row[0], "`"+name+"`") || strings.Contains(row[0], "default") != (i == 0) {
			t.Errorf("row %d is of %s; want %s, and the first as the default", i+1, row[0], name)
		}
		if attempts := fmt.Sprint(retry.Attempts(preset)); row[2] != attempts {
			t.Errorf("%s has %s attempts; want %s", name, row[2], attempts)
		}
		documented := hook.RetryPolicy{Jitter: jitter(t, row[3])}
		for delay := range strings.SplitSeq(row[1], ", ") {
			d, err := time.ParseDuration(strings.ReplaceAll(delay, " ", ""))
			if err != nil {
				t.Fatal(err)
			}
			documented.Schedule = append(documented.Schedule, d)
		}
		for n := 1; n <= retry.Attempts(preset); n++ {
			want, more := retry.Next(preset, hook.DeliveryID{}, n, 0)
			got, planned := retry.Next(documented, hook.DeliveryID{}, n, 0)
			if got != want || planned != more {
				t.Errorf("%s waits %s after failure %d as documented (%v); want %s (%v)", name, got, n, planned, want, more)
			}
		}
	}
}

// jitter returns the jitter whose name begins the cell.
func jitter(t *testing.T, cell string) hook.Jitter {
	t.Helper()

	for j := hook.JitterFull; j <= hook.JitterNone; j++ {
		if strings.HasPrefix(cell, "`"+j.String()+"`") {
			return j
		}
	}
	t.Fatalf("%q names no jitter", cell)
	return 0
}

// TestReview holds the table of reviews in docs/api.md to the constants of package review.
func TestReview(t *testing.T) {
	t.Parallel()

	want := [][]string{
		{"95", fmt.Sprint(review.SlowOver.Seconds()), fmt.Sprint(review.Enough)},
		{"95", fmt.Sprint(review.FragileOver.Seconds()), fmt.Sprint(review.Enough)},
		{fmt.Sprint(100 * review.WarnOver), fmt.Sprint(review.Enough), "24"},
		{fmt.Sprint(100 * review.WarnAgainOver)},
		{fmt.Sprint(100 * review.DisableOver)},
	}
	p := document(t, "docs/api.md")
	var got [][]string
	for _, row := range p.table(t, "condition", "effect") {
		got = append(got, numbersOf(row[0]))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("numbers of the conditions (-code +document):\n%s", diff)
	}
	if every := fmt.Sprintf("Every %g minutes the breaker reviews", review.Every.Minutes()); !strings.Contains(p.prose, every) {
		t.Errorf("docs/api.md does not say %q", every)
	}
}

// TestOutcomes checks that the tables of outcomes name every class of attempts.
func TestOutcomes(t *testing.T) {
	t.Parallel()

	tables := map[string][][]string{
		"docs/api.md":     document(t, "docs/api.md").table(t, "response", "class", "effect"),
		"docs/circuit.md": document(t, "docs/circuit.md").table(t, "outcome", "class", "delivery", "closed circuit", "half-open circuit (result of the probe)", "gate"),
	}
	var want []string
	for c := hook.Class(1); c.String() != "unknown"; c++ {
		want = append(want, c.String())
	}
	slices.Sort(want)
	for file, rows := range tables {
		var got []string
		for _, row := range rows {
			if row[1] != "" {
				got = append(got, listed(row[1])...)
			}
		}
		slices.Sort(got)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("classes in %s (-code +document):\n%s", file, diff)
		}
	}
}
