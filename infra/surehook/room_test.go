package surehook

import (
	"strings"
	"testing"
)

// TestNewStack_variables checks that the synthesis refuses settings that are each permitted, and
// together have no room in the variables of a function: Lambda would refuse them later.
func TestNewStack_variables(t *testing.T) {
	t.Parallel()

	err := templateOf(t, "crowded").refused
	for _, want := range []string{"function manage can take", "room for 4096", "shorten " + "SUREHOOK_SIGNATURE_PROFILES"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("NewStack() = %v; want an error with %q", err, want)
		}
	}
}

func TestRoom(t *testing.T) {
	t.Parallel()

	r := room{prefix: 40, parameters: map[string]int{"PortalName": 900, "PortalLogo": 900}}
	ref := func(to string) any { return map[string]any{"Ref": to} }
	join := func(parts ...any) any { return map[string]any{"Fn::Join": []any{"", parts}} }
	for name, tt := range map[string]struct {
		value any
		want  int
	}{
		"a text":                        {"30 d", 4},
		"quotes":                        {`{"a":1}`, 9},
		"the URL of a queue":            {ref("Live848578DF"), 56 + 40 + 14 + 12},
		"the longest name of a queue":   {ref("UndeliverableRetryA4C2248E"), 56 + 80},
		"an ARN":                        {map[string]any{"Fn::GetAtt": []any{"KeyA", "Arn"}}, 56 + 40 + 14 + 4},
		"a host":                        {join(ref("Api"), ".execute-api.", ref("AWS::Region"), ".", ref("AWS::URLSuffix")), 15 + 13 + 15 + 1 + 15},
		"the name of a stack":           {ref("AWS::StackName"), 40},
		"a parameter":                   {ref("PortalName"), 900},
		"the longer of two":             {map[string]any{"Fn::If": []any{"Has", "no", "yes"}}, 3},
		"a function that nobody knows":  {map[string]any{"Fn::ImportValue": "x"}, 4096},
		"two addresses with a comma":    {map[string]any{"Fn::Join": []any{",", []any{ref("A"), ref("B")}}}, 31},
		"a parameter as part of a text": {join("https://", ref("PortalName")), 8 + 900},
	} {
		if got := r.longest(tt.value, false); got != tt.want {
			t.Errorf("%s takes %d bytes; want %d", name, got, tt.want)
		}
	}

	fits := map[string]any{"A": ref("PortalName"), "B": ref("PortalLogo"), "C": strings.Repeat("c", 4096-2-3*7-900)}
	if err := r.check("Manage", fits); err != nil {
		t.Errorf("check() = %v; want room for one of two parameters", err)
	}
	fits["C"] = fits["C"].(string) + "c" //nolint:forcetypeassert,errcheck // set above
	if err := r.check("Manage", fits); err == nil {
		t.Error("check() took one byte too many")
	}
}
