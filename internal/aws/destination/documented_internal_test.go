package destination

import (
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"surehook.example/surehook/internal/hook"
	rule "surehook.example/surehook/internal/rule/destination"
)

// Each type of rule/destination that is a resource in AWS has a sending half here, and none is left
// over.
func TestKinds(t *testing.T) {
	t.Parallel()

	left := kinds()
	for _, to := range rule.Types() {
		if to.Resource == nil {
			continue
		}
		if left[to.Name].connect == nil {
			t.Errorf("%s has no sending half", to.Name)
		}
		delete(left, to.Name)
	}
	if len(left) > 0 {
		t.Errorf("rule/destination does not list %v", left)
	}
}

// TestTypes_documented checks that the page shows the address and the limits of each type, and
// that the customers' template allows its action on its resource.
func TestTypes_documented(t *testing.T) {
	t.Parallel()

	page, template := read(t, "docs/destinations.md"), read(t, "examples/destinations/role.yaml")
	table, _, _ := strings.Cut(page, "\n## ")
	resources := regexp.MustCompile(regexp.MustCompile(`AllowedPattern: (\^arn.*:\(.*)`).FindStringSubmatch(template)[1])
	for _, to := range rule.Types() {
		rows := regexp.MustCompile("(?m)^\\| `"+to.Name.String()+"`.*").FindAllString(table, -1)
		if len(rows) != 1 {
			t.Errorf("docs/destinations.md has %d rows of %s; want one", len(rows), to.Name)
			continue
		}
		if to.Resource == nil {
			continue
		}
		if !strings.Contains(rows[0], "`"+to.Example+"`") {
			t.Errorf("docs/destinations.md does not show %s", to.Example)
		}
		sizes := regexp.MustCompile(`\| ([0-9,]+) \| ([0-9,]+) \|`).FindStringSubmatch(rows[0])
		if sizes == nil || number(sizes[1]) != to.MaxBytes || number(sizes[2]) != to.MaxCoalesceBytes {
			t.Errorf("docs/destinations.md has the sizes %v of %s; want %d and %d", sizes, to.Name, to.MaxBytes, to.MaxCoalesceBytes)
		}
		service, _, _ := strings.Cut(to.Action, ":")
		if arn := "arn:aws:" + service + ":eu-west-1:111122223333:x"; !strings.Contains(template, to.Action) || !resources.MatchString(arn) {
			t.Errorf("examples/destinations/role.yaml does not allow %s on %s", to.Action, arn)
		}
	}
}

// number returns a number with commas.
func number(text string) int {
	n, _ := strconv.Atoi(strings.ReplaceAll(text, ",", ""))
	return n
}

func read(t *testing.T, file string) string {
	t.Helper()

	raw, err := os.ReadFile("../../../" + file)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// TestRows_documented compares the table of docs/destinations.md with the code: each error code
// has a line with its class and status, and no line names an unknown one.
func TestRows_documented(t *testing.T) {
	t.Parallel()

	type meaning struct {
		class  hook.Class
		status int
	}
	documented := map[string]meaning{}
	code := regexp.MustCompile("`([A-Z][A-Za-z.]+)`")
	for line := range strings.Lines(read(t, "docs/destinations.md")) {
		cells := strings.Split(line, "|")
		if len(cells) != 6 {
			continue
		}
		class, err := hook.ParseClass(strings.Trim(cells[2], " `"))
		status, _ := strconv.Atoi(strings.TrimSpace(cells[3]))
		if err != nil || status == 0 {
			continue
		}
		for _, found := range code.FindAllStringSubmatch(cells[1], -1) {
			documented[found[1]] = meaning{class, status}
		}
	}
	coded := common().rows()
	for _, k := range kinds() {
		coded = append(coded, k.codes.rows()...)
	}
	known := map[string]bool{}
	for _, r := range coded {
		for _, c := range r.codes {
			if documented[c] != (meaning{r.class, r.status}) {
				t.Errorf("docs/destinations.md says %v of %s; the code says %s %d", documented[c], c, r.class, r.status)
			}
			known[c] = true
		}
	}
	for c, said := range documented {
		if class := classOf(c); class != 0 {
			if said.class != class {
				t.Errorf("docs/destinations.md says %v of %s; the code says %s", said, c, class)
			}
		} else if !known[c] {
			t.Errorf("docs/destinations.md has the code %s, which the code does not know", c)
		}
	}
}
