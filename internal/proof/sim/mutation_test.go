//go:build mutation

package sim_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestMutations proves that the simulator can fail: each of these bugs, put into
// the code by an overlay, must be found within 2,000 seeds.
func TestMutations(t *testing.T) { //nolint:paralleltest // each uses all processors
	tests := []struct{ name, file, old, bug string }{
		{
			"settle sends the next token before it writes the outcome", "deliver/settle.go",
			"err := d.Store.SaveDelivery(ctx, next, attempt)\n\t\tif err == nil {\n\t\t\treturn next, d.follow(ctx, next)\n\t\t}",
			"err := d.follow(ctx, next)\n\t\tif err == nil {\n\t\t\terr = d.Store.SaveDelivery(ctx, next, attempt)\n\t\t}\n\t\tif err == nil {\n\t\t\treturn next, nil\n\t\t}",
		},
		{
			"deliveries are written without a condition", "memory/store_delivery.go",
			"if version != d.Version {", "if version > d.Version+1000 {",
		},
		{
			"circuits are written without a condition: the same wave twice, two probes", "memory/store_circuit.go",
			"if stored.Version != r.Version {", "if stored.Version > r.Version+1000 {",
		},
		{
			"limits are written without a condition", "memory/store_circuit.go",
			"if s.limits[endpoint].Version != l.Version {", "if s.limits[endpoint].Version > l.Version+1000 {",
		},
		{
			"places in flight are given without a look at those that are taken", "gate/limits.go",
			"!has && len(leases) >= limit", "!has && len(leases) >= limit+100",
		},
		{
			"Retry-After is forgotten", "deliver/settle.go",
			"afterFailure(d, *s.endpoint, o.RetryAfter, now)", "afterFailure(d, *s.endpoint, 0, now)",
		},
		{
			"max_age is forgotten when the next attempt is planned", "deliver/settle.go",
			"if retry.Expired(d.CreatedAt, next, e.MaxAge) {", "if retry.Expired(d.CreatedAt, next, 100*e.MaxAge) {",
		},
		{
			"max_age is forgotten when a token arrives", "deliver/judge.go",
			"case s.endpoint != nil && retry.Expired(d.CreatedAt, now, s.endpoint.MaxAge):", "case s.endpoint != nil && retry.Expired(d.CreatedAt, now, 100*s.endpoint.MaxAge):",
		},
		{
			"a message is acknowledged whatever became of it", "deliver/deliver.go",
			"failed = append(failed, messages[i].ID)", "_ = append(failed, messages[i].ID)",
		},
		{
			"a repeated post heals nothing", "ingest/ingest.go",
			"a.sendTokens(ctx, posts, true)", "_ = healDelay",
		},
		{
			"a paused endpoint is not left alone", "gate/gate.go",
			"case q.Endpoint.Status == hook.StatusPaused:", "case q.Endpoint.Status == hook.StatusPaused && q.Endpoint.MaxAge < 0:",
		},
		{
			"a delivery can be replayed twice", "hook/replay.go",
			"case d.Replayed.Generation != 0:", "case d.Replayed.Generation < 0:",
		},
		{
			"a replay of a delivery in progress needs no force", "hook/replay.go",
			"case !d.State.Settled() && !o.Force:\n\t\treturn d, &Error{Code: CodeInProgress, Message: fmt.Sprintf(\"it is still in progress: %s\", d.State)}",
			"case false:",
		},
		{
			"a forced replay leaves the delivery in progress", "hook/replay.go",
			"d.State, d.Reason = StateCancelled, ReasonReplayed", "_ = StateCancelled",
		},
		{
			"reconciliation removes the letters of dead deliveries, too", "breaker/reconcile.go",
			"case d.Replayed.Generation == 0:\n\t\treturn false, nil", "case d.Replayed.Generation == 0:\n\t\treturn true, nil",
		},
		{
			"reconciliation leaves second letters", "breaker/reconcile.go",
			"needless = append(needless, second)", "_ = second",
		},
		{
			"slots of the rate are not reserved", "gate/gate.go",
			"limits, slots = limits.Reserve(1, rate, now)", "_, slots = limits.Reserve(1, rate, now)",
		},
		{
			"a token that waited out a throttle passes without a new slot", "deliver/deliver.go",
			"token.Reserved, token.Delays = v.Reserved, s.token.Delays+1", "token.Reserved, token.Delays = v.Reserved || s.token.Reserved, s.token.Delays+1",
		},
		{
			"everybody may probe", "circuit/circuit.go",
			"again := c.State == HalfOpen && c.Holder == holder", "again := c.State == HalfOpen",
		},
		{
			"an own decision is not gone on with", "deliver/judge.go",
			"own := d.Token == t.Nonce", "own := d.Token == t.Nonce && d.Attempts > 1000",
		},
		{
			"a cancelled delivery's own token does not go on", "deliver/judge.go",
			"d.State.Settled() && own:", "d.State == hook.StateDead && own:",
		},
		{
			"nobody writes that deliveries wait for an endpoint", "gate/gate.go",
			"next := r.Wait(now)\n\tif next == r {", "next := r.Wait(now)\n\tif next.Endpoint == r.Endpoint {",
		},
		{
			"the tick looks at nothing", "breaker/tick.go",
			"faults := each(len(looks), ", "faults := each(0, ",
		},
		{
			"a probe's token is sent after a wave leaves the parked ones", "breaker/release.go",
			"refused := v.Queue.Send(ctx, hook.LaneRetry, tokens, 0)",
			"for _, d := range deliveries {\n\t\td.State, d.Reason = hook.StateRetrying, hook.ReasonNone\n\t\tif err := v.Store.SaveDelivery(ctx, d, nil); err != nil {\n\t\t\treturn err\n\t\t}\n\t}\n\trefused := v.Queue.Send(ctx, hook.LaneRetry, tokens, 0)",
		},
		{
			"function deliver does not record the replay that its token orders", "deliver/begin.go",
			"return old, ok && old.Tenant == t.Tenant && old.Replayed.Generation == 0", "return old, ok && old.Tenant == t.Tenant && old.Replayed.Generation < 0",
		},
		{
			"a replay that settled retires nothing", "hook/replay.go",
			"if d.State != StateDead || d.Replayed.Generation == 0 {", "if d.State != StateDead || d.Replayed.Generation >= 0 {",
		},
		{
			"an expired delivery is dead before its letter is there", "breaker/sweep.go",
			"if d.State == hook.StateDead {\n\t\tif err := v.DeadLetters.Bury(",
			"if ours, err := v.settle(ctx, d); err != nil || !ours {\n\t\treturn ours, err\n\t}\n\tif d.State == hook.StateDead {\n\t\tif err := v.DeadLetters.Bury(",
		},
		{
			"ingest trusts what it remembers of a tenant", "ingest/directory.go",
			"ok && known.version == version", "ok && known.version <= version",
		},
	}
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range tests { //nolint:paralleltest // each uses all processors
		t.Run(tt.name, func(t *testing.T) {
			file := filepath.Join(root, tt.file)
			code, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if n := strings.Count(string(code), tt.old); n != 1 {
				t.Fatalf("%s has %d of %q; want 1", tt.file, n, tt.old)
			}
			found, out := mutated(t, file, strings.Replace(string(code), tt.old, tt.bug, 1))
			if found == "" {
				t.Errorf("2,000 seeds do not find it:\n%s", out)
			}
			t.Log(found)
		})
	}
}

// mutated runs the simulator with the file's code replaced, and returns what it finds.
func mutated(t *testing.T, file, code string) (found, out string) {
	t.Helper()

	dir := t.TempDir()
	changed, overlay, binary := filepath.Join(dir, "changed.go"), filepath.Join(dir, "overlay.json"), filepath.Join(dir, "sim.test")
	text, err := json.Marshal(map[string]any{"Replace": map[string]string{file: changed}})
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string][]byte{changed: []byte(code), overlay: text} {
		if err := os.WriteFile(name, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if built, err := exec.CommandContext(t.Context(), "go", "test", "-c", "-overlay", overlay, "-o", binary, ".").CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, built)
	}
	ran, err := exec.CommandContext(t.Context(), binary, "-test.run", "TestSeeds$", "-seeds", "2000").CombinedOutput()
	if err == nil {
		return "", string(ran)
	}
	return regexp.MustCompile(`seed \d+: .*`).FindString(string(ran)), string(ran)
}
