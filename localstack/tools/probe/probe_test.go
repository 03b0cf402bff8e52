package probe_test

import (
	"errors"
	"strings"
	"testing"

	"surehook.example/surehook/localstack/tools/probe"
)

func TestResults_Why_namesWhatIsMissing(t *testing.T) {
	t.Parallel()

	results := probe.Results{
		{Service: "SQS"},
		{Service: probe.HTTPAPI, Err: errors.New("not known")},
		{Service: probe.Firing, Err: errors.New("no message")},
	}
	tests := []struct {
		name     string
		services []string
		want     string
	}{
		{name: "the stack needs all but Firing", want: "HTTP API: not known"},
		{name: "a flow with schedules needs Firing", services: []string{probe.Firing}, want: "Scheduler fires: no message"},
		{name: "a service that the server has", services: []string{"SQS"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			if got := results.Why(tt.services...); got != tt.want {
				t.Errorf("Why(%v) = %q; want %q", tt.services, got, tt.want)
			}
		})
	}
	if got := probe.Results(nil).Why(); got != "" {
		t.Errorf("Why of a server that was not asked = %q; want nothing", got)
	}
}

func TestResults_Write(t *testing.T) {
	t.Parallel()

	var out strings.Builder
	results := probe.Results{{Service: "SQS", Calls: "SendMessage"}, {Service: "KMS", Calls: "Decrypt", Err: errors.New("not known")}}
	if err := results.Write(&out); err != nil {
		t.Fatal(err)
	}
	want := "service  tried        result\nSQS      SendMessage  yes\nKMS      Decrypt      NO: not known\n"
	if out.String() != want {
		t.Errorf("Write =\n%s\nwant\n%s", out.String(), want)
	}
}
