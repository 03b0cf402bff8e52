package destination

import (
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"surehook.example/surehook/internal/hook"
)

// TestRows_documented compares the table of docs/destinations.md with the code: each error code
// has a line with its class and status, and no line names an unknown one.
func TestRows_documented(t *testing.T) {
	t.Parallel()

	raw, err := os.ReadFile("../../../docs/destinations.md")
	if err != nil {
		t.Fatal(err)
	}
	type meaning struct {
		class  hook.Class
		status int
	}
	documented := map[string]meaning{}
	code := regexp.MustCompile("`([A-Z][A-Za-z.]+)`")
	for line := range strings.Lines(string(raw)) {
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
	delete(documented, "ThrottlingException") // stands for all throttling codes of the SDK
	for _, r := range rows() {
		for _, c := range r.codes {
			if documented[c] != (meaning{r.class, r.status}) {
				t.Errorf("docs/destinations.md says %v of %s; the code says %s %d", documented[c], c, r.class, r.status)
			}
			delete(documented, c)
		}
	}
	if len(documented) > 0 {
		t.Errorf("docs/destinations.md has codes that the code does not know: %v", documented)
	}
}
