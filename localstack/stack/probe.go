package stack

import (
	"context"
	"fmt"
	"io"

	"surehook.example/surehook/localstack/emulator"
	"surehook.example/surehook/localstack/tools/probe"
)

// Probe prints what a server that ran before has of what the stack needs. The error names what
// is missing. An emulator that this program started has everything, and is not asked.
func Probe(ctx context.Context, e *emulator.Emulator, out io.Writer) (probe.Results, error) {
	if !e.Attached {
		return nil, nil
	}
	fmt.Fprintf(out, "%s at %s has, of what the stack needs:\n\n", e.Kind, e.URL) //nolint:errcheck // a failed line is harmless
	results := probe.Run(ctx, probe.Server{AWS: awsConfig(e), APIHost: e.APIHost})
	if err := results.Write(out); err != nil {
		return nil, err
	}
	if why := results.Why(); why != "" {
		return results, fmt.Errorf("the stack cannot run on %s: %s", e.URL, why)
	}
	return results, nil
}
