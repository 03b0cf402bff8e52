package lambdalog_test

import (
	"bytes"
	"log/slog"
	"regexp"
	"testing"

	"github.com/aws/aws-lambda-go/lambdacontext"

	"surehook.example/surehook/internal/aws/lambdalog"
)

// CloudWatch charges by the byte, so the line at INFO is compared byte for byte, except for its
// time.
func TestNew_WritesNothingSuperfluous(t *testing.T) {
	t.Parallel()

	tests := []struct {
		name  string
		level slog.Level
		want  string
	}{
		{name: "debug", level: slog.LevelDebug, want: ``},
		{name: "info", level: slog.LevelInfo, want: `^\{"timestamp":"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,3})?Z","level":"INFO","message":"event.ingested","shop":"a","tenant":"acme"\}\n$`},
		{name: "warning", level: slog.LevelWarn, want: `"level":"WARN","message":"event.ingested","shop":"a","tenant":"acme","requestId":"6d68ca91-49c9-448d-89b8-7ca3e6dc66aa"\}\n$`},
		{name: "error", level: slog.LevelError, want: `"level":"ERROR","message":"event.ingested","shop":"a","tenant":"acme","requestId":"6d68ca91-49c9-448d-89b8-7ca3e6dc66aa"\}\n$`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			ctx := lambdacontext.NewContext(t.Context(), &lambdacontext.LambdaContext{AwsRequestID: "6d68ca91-49c9-448d-89b8-7ca3e6dc66aa"})
			var b bytes.Buffer
			lambdalog.New(&b).With(slog.String("shop", "a")).LogAttrs(ctx, tt.level, "event.ingested", slog.String("tenant", "acme"))
			if got := b.String(); !regexp.MustCompile(tt.want).MatchString(got) || (tt.want == "") != (got == "") {
				t.Errorf("the line is %q; want %s", got, tt.want)
			}
		})
	}
}

func TestNew_LogsOutsideAnInvocation(t *testing.T) {
	t.Parallel()

	var b bytes.Buffer
	lambdalog.New(&b).WithGroup("g").ErrorContext(t.Context(), "function.failed_to_start", slog.Int("n", 1))
	if got := b.String(); !regexp.MustCompile(`"message":"function.failed_to_start","g":\{"n":1\}\}\n$`).MatchString(got) {
		t.Errorf("the line is %q; want the field in its group, and no invocation", got)
	}
}
