package docs_test

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"surehook.example/surehook/proof/cost"
)

// TestIdleMonth holds the fixed costs of docs/cost.md to the resources of the
// prod stack, their sum to its parts, and every other document to the sum.
func TestIdleMonth(t *testing.T) {
	t.Parallel()

	want := map[string]int{
		"metrics of alarms":                     alarmMetrics(t),
		"gauges of the breaker, custom metrics": count(t, "internal/delivery", `\.Gauge\(names\.`),
		"dashboard":                             ofType(t, "AWS::CloudWatch::Dashboard"),
		"KMS key":                               ofType(t, "AWS::KMS::Key"),
		"secret of the admin key":               ofType(t, "AWS::SecretsManager::Secret"),
	}
	got := make(map[string]int)
	var runs []string
	var sum, total float64
	for _, row := range document(t, "docs/cost.md").table(t, "item", "USD in 30 days") {
		usd := dollars(t, row[1])
		if strings.HasPrefix(row[0], "**") {
			total = usd
			continue
		}
		sum += usd
		if strings.Contains(row[0], ", every ") {
			runs = append(runs, row[0])
		}
		if fixed := regexp.MustCompile(`^(.+): (\d+) at ([\d.]+)$`).FindStringSubmatch(row[0]); fixed != nil {
			n, err := strconv.Atoi(fixed[2])
			if err != nil {
				t.Fatal(err)
			}
			got[fixed[1]] = n
			if want := float64(n) * dollars(t, fixed[3]); math.Abs(want-usd) > 0.005 {
				t.Errorf("%s costs %.2f; want %.2f", row[0], usd, want)
			}
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("fixed costs (-stack +document):\n%s", diff)
	}
	if diff := cmp.Diff(scheduled(t), runs); diff != "" {
		t.Errorf("runs of schedules (-stack +document):\n%s", diff)
	}
	if math.Abs(sum-total) > 0.03 { // each part is rounded
		t.Errorf("the idle month costs %.2f; want the sum of its parts, %.2f", total, sum)
	}
	month := fmt.Sprintf("about $%.0f a month", total)
	for _, file := range []string{"README.md", "docs/runbook.md"} {
		if !strings.Contains(flat(read(t, file)), month) {
			t.Errorf("%s does not say %q", file, month)
		}
	}
	for _, p := range pages(t) {
		for _, said := range regexp.MustCompile(`about \$[\d.]+ a month`).FindAllString(flat(p.prose), -1) {
			if said != month {
				t.Errorf("%s says %q; want %q", p.path, said, month)
			}
		}
		if regexp.MustCompile(`nothing (?:when|while) idle`).MatchString(flat(p.prose)) {
			t.Errorf("%s says that an idle stack costs nothing; want %q", p.path, month)
		}
	}
}

// TestArchiveTransitions holds the state transitions of the archive in docs/cost.md to the
// polls of its state machine.
func TestArchiveTransitions(t *testing.T) {
	t.Parallel()

	number := func(pattern string) int { return int(dollars(t, written(t, "infra/surehook", pattern))) }
	most := 4 + 3*number(`archiveTimeout = (\d+) \* time\.Hour`)*60/number(`archivePoll = (\d+) \* time\.Minute`)
	want := fmt.Sprintf("7 to %d state transitions a day, 0.01 to %.2f a month", most, float64(most)*30*25/1e6)
	if !strings.Contains(flat(read(t, "docs/cost.md")), want) {
		t.Errorf("docs/cost.md does not say %q", want)
	}
}

// TestCostPerMillion holds the costs that other documents quote to docs/cost.md: the range
// of all rows of first attempts in full batches without an ordering key, and the two rows outside the range, each with what
// stands beside the rows.
func TestCostPerMillion(t *testing.T) {
	t.Parallel()

	const alone, fresh = "an event posted alone, delivered alone", "an event to a new endpoint"
	least, most := math.Inf(1), 0.0
	costs := make(map[string]float64)
	for _, line := range regexp.MustCompile(`(?m)^\| ([^|]+) \|.* \*\*([\d.]+)\*\* \|$`).FindAllStringSubmatch(read(t, "docs/cost.md"), -1) {
		usd := dollars(t, line[2])
		costs[line[1]] = usd
		later := regexp.MustCompile(`fail|dead|outage|flood|month|ordering key`).MatchString(line[1])
		if !later && line[1] != alone && line[1] != fresh {
			least, most = min(least, usd), max(most, usd)
		}
	}
	beside := 0.0
	for _, usd := range regexp.MustCompile(`take ([\d.]+) of KMS .*, ([\d.]+) for each GB .*, and ([\d.]+) for the export`).FindStringSubmatch(read(t, "docs/cost.md"))[1:] {
		beside += dollars(t, usd)
	}
	least, most, costs[alone] = least+beside, most+beside, costs[alone]+beside
	want := fmt.Sprintf("about $%.0f to $%.0f per million deliveries at the first attempt under load, $%.0f when each is alone in its batch", least, most, costs[alone])
	for _, file := range []string{"README.md", "docs/runbook.md"} {
		if !strings.Contains(strings.ToLower(flat(read(t, file))), want) {
			t.Errorf("%s does not say %q", file, want)
		}
	}
	if want := fmt.Sprintf("new endpoints ($%.0f per million of their first deliveries)", costs[fresh]); !strings.Contains(flat(read(t, "docs/runbook.md")), want) {
		t.Errorf("docs/runbook.md does not say %q", want)
	}
}

// flat returns the text on one line.
func flat(text string) string { return strings.Join(strings.Fields(text), " ") }

func dollars(t *testing.T, text string) float64 {
	t.Helper()

	usd, err := strconv.ParseFloat(strings.Trim(text, "*"), 64)
	if err != nil {
		t.Fatal(err)
	}
	return usd
}

// alarmMetrics returns the number of metrics of all alarms: AWS charges for each.
func alarmMetrics(t *testing.T) int {
	t.Helper()

	n := 0
	for _, r := range resources(t) {
		if r.Type != "AWS::CloudWatch::Alarm" {
			continue
		}
		queries, ok := r.Properties["Metrics"].([]any)
		if !ok {
			n++
		}
		for _, q := range queries {
			if query, ok := q.(map[string]any); ok && query["MetricStat"] != nil {
				n++
			}
		}
	}
	return n
}

func ofType(t *testing.T, name string) int {
	t.Helper()

	n := 0
	for _, r := range resources(t) {
		if r.Type == name {
			n++
		}
	}
	return n
}

// count returns how often the pattern is in the folder's Go files, tests aside.
func count(t *testing.T, folder, pattern string) int {
	t.Helper()

	n := 0
	for _, file := range files(t) {
		if strings.HasPrefix(file, folder+"/") && strings.HasSuffix(file, ".go") && !strings.HasSuffix(file, "_test.go") {
			n += len(regexp.MustCompile(pattern).FindAllString(read(t, file), -1))
		}
	}
	return n
}

// scheduled returns the rows of the idle month for the schedules of the prod stack that
// call the breaker, in the order of the document. The archive's schedule has no row.
func scheduled(t *testing.T) []string {
	t.Helper()

	rows := map[string]string{"Tick": "ticks", "Review": "reviews", "Reconcile": "reconciliations", "Sweep": "sweeps"}
	for id, r := range resources(t) {
		if r.Type != "AWS::Scheduler::Schedule" || id == "ArchiveSchedule" {
			continue
		}
		name, ok := rows[id]
		if !ok {
			t.Errorf("docs/cost.md has no row for the schedule %s", id)
		}
		expression, _ := r.Properties["ScheduleExpression"].(string)
		interval := strings.TrimSuffix(strings.TrimPrefix(expression, "rate("), ")")
		rows[id] = name + ", every " + strings.TrimPrefix(interval, "1 ")
	}
	return []string{rows["Tick"], rows["Review"], rows["Reconcile"], rows["Sweep"]}
}

// TestMemory holds the memory of the ledger to the functions of the prod stack.
func TestMemory(t *testing.T) {
	t.Parallel()

	want := map[string]float64{"surehook-prod-ingest": cost.MemoryMB, "surehook-prod-deliver": cost.MemoryMB, "surehook-prod-breaker": cost.BreakerMB}
	got := make(map[string]float64)
	for _, r := range resources(t) {
		name, _ := r.Properties["FunctionName"].(string)
		if _, ok := want[name]; ok {
			got[name], _ = r.Properties["MemorySize"].(float64)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("memory in MB (-ledger +stack):\n%s", diff)
	}
}
