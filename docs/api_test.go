package docs_test

import (
	"context"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/localstack/dev"
	"surehook.example/surehook/localstack/receiver"
)

// TestAPI runs the blocks of docs/api.md in one shell, one after the other,
// against what `make dev` runs. The first block sets the variables, which the
// test sets itself. The receiver refuses every request, so that deliveries are
// dead at once and the blocks about dead letters have some.
func TestAPI(t *testing.T) {
	t.Parallel()

	for _, tool := range []string{"bash", "curl", "jq"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("docs/api.md is for readers with %s: %v", tool, err)
		}
	}
	server, err := dev.Start(t.Context(), dev.Options{})
	if err != nil {
		t.Fatal(err)
	}
	hooks, err := receiver.Start(t.Context(), "127.0.0.1", "127.0.0.1")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), 10*time.Second)
		defer cancel()
		if err := server.Stop(ctx); err != nil {
			t.Error(err)
		}
		if err := hooks.Stop(); err != nil {
			t.Error(err)
		}
	})
	hooks.Script("/hooks", receiver.Status(http.StatusForbidden))

	blocks := regexp.MustCompile("(?s)\n```sh\n(.*?)```\n").FindAllStringSubmatch(read(t, "docs/api.md"), -1)
	if len(blocks) < 7 {
		t.Fatalf("docs/api.md has %d blocks; want 7 or more", len(blocks))
	}
	const settled = `
until [ "$(api GET "/v1/tenants/acme/deliveries/$DELIVERY" | jq -r .state)" = dead ]; do :; done
`
	conflict := regexp.MustCompile("(?m) # 409 .*$") // a line that may be refused here
	var script strings.Builder
	for i, block := range blocks[1:] {
		script.WriteString(conflict.ReplaceAllString(block[1], " || true"))
		if i == 1 {
			script.WriteString(settled)
		}
	}
	cmd := exec.CommandContext(t.Context(), "bash", "-euxo", "pipefail", "-c", script.String())
	cmd.Env = append(os.Environ(), "API="+server.URL, "KEY="+server.Key, "URL="+hooks.URL+"/hooks", "NO_PROXY=127.0.0.1", "no_proxy=127.0.0.1")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("the commands of docs/api.md end with %v:\n%s", err, strings.ReplaceAll(string(out), server.Key, "$KEY"))
	}
}

// The names that docs/api.md gives as refused are refused.
func TestAPI_headers(t *testing.T) {
	t.Parallel()

	_, text, found := strings.Cut(read(t, "docs/api.md"), "names that servers trust because a proxy sets them")
	text, _, _ = strings.Cut(text, "\n\n")
	names := regexp.MustCompile("`([A-Z][A-Za-z-]+)`").FindAllStringSubmatch(text, -1)
	if !found || len(names) < 10 {
		t.Fatalf("docs/api.md names %v; want 10 or more", names)
	}
	for _, name := range names {
		if !hook.ReservedHeader(name[1]) {
			t.Errorf("docs/api.md says that %s is refused", name[1])
		}
	}
}
