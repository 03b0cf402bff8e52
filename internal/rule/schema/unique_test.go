package schema_test

import (
	"fmt"
	"strings"
	"testing"

	"surehook.example/surehook/internal/rule/schema"
	"surehook.example/surehook/proof/work"
)

func TestCheck_unique(t *testing.T) {
	t.Parallel()

	for items, want := range map[string]string{
		``:                                 "",
		`1,2`:                              "",
		`1,2,1`:                            "items at 0 and 2 are equal",
		`1,10e-1`:                          "items at 0 and 1 are equal",
		`0,-0`:                             "items at 0 and 1 are equal",
		`1.5,15e-1`:                        "items at 0 and 1 are equal",
		`1,-1,"1",true,"true",null,"",0.1`: "",
		`null,false,null`:                  "items at 0 and 2 are equal",
		`[[],[]],[[[]]],[],[[]]`:           "",
		`["a","b"],["ab"],["a\u0004b"],["a\",1:b"],["a\"1:b"],["b","a"]`: "",
		`["a",[]],["a",[]]`:                     "items at 0 and 1 are equal",
		`{"a":1,"b":2},{"b":2,"a":1.0}`:         "items at 0 and 1 are equal",
		`{"a":1},{"a":2},{"b":1},["a",1],{},[]`: "",
		`{"a":{"b":1}},{"a":{},"b":1}`:          "",
		`[1,2],[12],["1",2],[1,"2"],["12"]`:     "",
	} {
		wrong, _ := compile(t, `{"uniqueItems":true}`).Check([]byte("["+items+"]"), "payload")
		if got := fmt.Sprint(wrong); want == "" && len(wrong) > 0 || want != "" && got != "[{payload "+want+"}]" {
			t.Errorf("[%s]: %s; want %q", items, got, want)
		}
	}
}

// Lists of lists have one hash for all their forms, if their brackets and numbers are the same. Checking
// them takes no more memory than checking lists of numbers, so no item is compared with all others.
func TestCheck_uniqueLists(t *testing.T) { //nolint:paralleltest // AllocsPerRun counts those of all goroutines
	s := compile(t, `{"uniqueItems":true}`)
	count := func(items []string) float64 {
		text := []byte("[" + strings.Join(items, ",") + "]")
		return testing.AllocsPerRun(1, func() {
			if wrong, steps := s.Check(text, "payload"); len(wrong) > 0 || steps > schema.MaxSteps/2 {
				t.Fatal(wrong, steps)
			}
		})
	}
	forms := work.Forms(8)
	usual := make([]string, len(forms))
	for i := range forms {
		forms[i], usual[i] = "[1e99,"+forms[i]+"]", fmt.Sprintf("[1e99,%d,[],[],[],[],[],[],[],[]]", i)
	}
	if got, most := count(forms), 3*count(usual); got > most {
		t.Errorf("%d forms: %.0f allocations; want at most %.0f", len(forms), got, most)
	}
}
