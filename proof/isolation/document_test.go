package isolation_test

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"regexp"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const document = "../../docs/isolation.md"

var (
	write = flag.Bool("write", false, "run the rows in the sizes of the document and by the clock of this machine, and write docs/isolation.md")
	only  = flag.String("row", "", "the one row that -write runs; the others keep their values")
)

// TestWrite writes the tables of the document.
func TestWrite(t *testing.T) { //nolint:paralleltest // measurements by the clock run alone
	if !*write {
		t.Skip("only with -write: make isolation")
	}
	text, err := os.ReadFile(document)
	if err != nil {
		t.Fatal(err)
	}
	for name, s := range map[string]setup{"virtual": {full: true}, "real": {clock: true}} { //nolint:paralleltest // as above
		measured := written(text, name, s.clock)
		for _, r := range rows() {
			if s.clock && !r.clock || *only != "" && r.name != *only {
				continue
			}
			t.Run(name+"/"+r.name, func(t *testing.T) { measured[r.name] = r.run(t, s) })
			t.Logf("%s: %s", r.text, measured[r.name])
		}
		text = section(name).ReplaceAll(text, []byte("${1}"+tableOf(s.clock, measured)+"${2}"))
	}
	if err := os.WriteFile(document, text, 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestDocument checks that the document has the cases and the bounds of the rows. The
// measured values differ from run to run.
func TestDocument(t *testing.T) {
	t.Parallel()

	text, err := os.ReadFile(document)
	if err != nil {
		t.Fatal(err)
	}
	for name, clock := range map[string]bool{"virtual": false, "real": true} {
		found := section(name).Find(text)
		if found == nil {
			t.Fatalf("the document has no table %q between its markers", name)
		}
		want := section(name).ReplaceAll(found, []byte("${1}"+tableOf(clock, nil)+"${2}"))
		last := regexp.MustCompile(`(?m)^(\|.*\|) [^|]* \|$`) // the column of the values
		if diff := cmp.Diff(last.ReplaceAllString(string(want), "$1"), last.ReplaceAllString(string(found), "$1")); diff != "" {
			t.Errorf("table %q is not as `make isolation` writes it (-code +document):\n%s", name, diff)
		}
	}
}

// written returns the values of the document's table.
func written(document []byte, name string, clock bool) map[string]string {
	measured := make(map[string]string)
	table := section(name).Find(document)
	for _, r := range rows() {
		first := r.text
		if clock {
			first = r.name
		}
		line := regexp.MustCompile(`(?m)^\| ` + regexp.QuoteMeta(first) + ` \|.*\| ([^|]*) \|$`)
		if clock {
			line = regexp.MustCompile(`(?m)^\| ` + regexp.QuoteMeta(first) + ` \| ([^|]*) \|$`)
		}
		if found := line.FindSubmatch(table); found != nil {
			measured[r.name] = string(found[1])
		}
	}
	return measured
}

// section finds a table of the document with its markers.
func section(name string) *regexp.Regexp {
	return regexp.MustCompile(`(?s)(<!-- ` + name + ` -->\n).*?(<!-- /` + name + ` -->)`)
}

// tableOf returns the table of the rows.
func tableOf(clock bool, measured map[string]string) string {
	var b bytes.Buffer
	if clock {
		fmt.Fprint(&b, "| case | measured |\n|---|---|\n")
	} else {
		fmt.Fprint(&b, "| case | bound | measured |\n|---|---|---|\n")
	}
	for _, r := range rows() {
		switch {
		case !clock:
			fmt.Fprintf(&b, "| %s | %s | %s |\n", r.text, r.bound, measured[r.name])
		case r.clock:
			fmt.Fprintf(&b, "| %s | %s |\n", r.name, measured[r.name])
		}
	}
	return b.String()
}
