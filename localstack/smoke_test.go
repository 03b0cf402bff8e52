//go:build e2e

package localstack_test

import (
	"context"
	"strings"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation"

	"surehook.example/surehook/internal/smoke"
)

// TestTheSmokeTestRemovesWhatItMade ends a smoke test as soon as its receiver is
// there, as Ctrl-C does: the checks fail, and nothing is left over.
// `make smoke ENV=local` runs the whole smoke test.
func TestTheSmokeTestRemovesWhatItMade(t *testing.T) {
	t.Parallel()

	b := setup(t)
	ctx, interrupt := context.WithCancel(b.ctx)
	defer interrupt()
	out := &screen{at: "PASS  receiver and tenant", then: interrupt}
	options, err := world.stack.Smoke(world.emulator, out)
	if err != nil {
		t.Fatal(err)
	}
	results, err := smoke.Run(ctx, options)
	if err != nil {
		t.Fatalf("%v\n%s", err, out.text())
	}
	want := map[string]smoke.Verdict{"receiver and tenant": smoke.Pass, "circuit": smoke.Fail, "removal": smoke.Pass}
	for _, r := range results {
		if verdict, ok := want[r.Name]; ok && r.Verdict != verdict {
			t.Errorf("%s = %s: %s; want %s", r.Name, r.Verdict, r.Note, verdict)
		}
		delete(want, r.Name)
	}
	if len(want) > 0 {
		t.Errorf("no results of %v", want)
	}
	left, err := cloudformation.NewFromConfig(world.stack.AWS).DescribeStacks(b.ctx, &cloudformation.DescribeStacksInput{})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range left.Stacks {
		if strings.Contains(aws.ToString(s.StackName), "-smoke-") {
			t.Errorf("the stack %s is left over; want none of the smoke test", aws.ToString(s.StackName))
		}
	}
	if !strings.Contains(out.text(), "the receiver's stack, the endpoints and the key are gone") {
		t.Errorf("output =\n%s\nwant a table with the removal", out.text())
	}
}

// screen calls then when the output has the text at.
type screen struct {
	at   string
	then func()

	mu  sync.Mutex
	got strings.Builder
}

// Write keeps the output.
func (s *screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.got.Write(p)
	if strings.Contains(s.got.String(), s.at) {
		s.then()
	}
	return len(p), nil
}

func (s *screen) text() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.got.String()
}
