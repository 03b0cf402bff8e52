package emulator

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/mod/semver"
)

// TokenlessTag is the last LocalStack version without a required token. The
// version has no HTTP API, no dashboards in CloudFormation and a Scheduler without
// firing. The version is sufficient for the port suites, not for the whole stack.
const TokenlessTag = "4.14.0"

// tokenless reports whether the version of the tag is TokenlessTag or older. Tags
// of later images begin with the year. A tag without a version, such as latest, is
// of a later image.
func tokenless(tag string) bool {
	version := "v" + tag
	return semver.IsValid(version) && semver.Compare(version, "v"+TokenlessTag) <= 0
}

// pullTimeout bounds the first start of LocalStack, with the image's download.
const pullTimeout = 10 * time.Minute

// CanRunStack returns the reason against the whole stack on the emulator, or
// nil.
func CanRunStack(kind Kind, env []string) error {
	if kind == LocalStack && tokenless(lookup(env, "LOCALSTACK_TAG")) {
		return fmt.Errorf("LocalStack %s has no HTTP API, no dashboards in CloudFormation, and its Scheduler never fires: "+
			"the image is sufficient for `make test/integration` only. Images after %s need LOCALSTACK_AUTH_TOKEN of a plan with HTTP APIs (Base)",
			lookup(env, "LOCALSTACK_TAG"), TokenlessTag)
	}
	if kind == Moto || kind == LocalStackPackage {
		return fmt.Errorf("%s runs no functions and is for the port suites only", kind)
	}
	return nil
}

// NeedsToken reports whether the environment's LocalStack image
// (LOCALSTACK_TAG) needs a token and the environment has none.
func NeedsToken(env []string) bool {
	return !tokenless(lookup(env, "LOCALSTACK_TAG")) && lookup(env, "LOCALSTACK_AUTH_TOKEN") == ""
}

func lookup(env []string, name string) string {
	for i := len(env) - 1; i >= 0; i-- {
		if value, found := strings.CutPrefix(env[i], name+"="); found {
			return value
		}
	}
	return ""
}

// startLocalStack runs LocalStack by its compose file. The project's name
// contains the port, so a stop affects no other project.
func (e *Emulator) startLocalStack(ctx context.Context) error {
	if NeedsToken(e.opts.Env) {
		return fmt.Errorf("LOCALSTACK_AUTH_TOKEN is not set: LocalStack images after %s do not start without a token "+
			"(the whole stack needs a plan with HTTP APIs: Base). LOCALSTACK_TAG=%s needs no token and is sufficient for "+
			"`make test/integration` only: the image has no HTTP API, no dashboards in CloudFormation, and its Scheduler never fires", TokenlessTag, TokenlessTag)
	}
	if _, err := exec.LookPath("docker"); err != nil {
		return fmt.Errorf("docker is %w: LocalStack is a container. `make run` without EMULATOR needs no container", ErrNotInstalled)
	}
	if out, err := e.compose(ctx, "version"); err != nil {
		return fmt.Errorf("docker compose is %w: %s", ErrNotInstalled, out)
	}
	e.stop = e.down
	ctx, cancel := context.WithTimeout(ctx, pullTimeout)
	defer cancel()
	if out, err := e.compose(ctx, "up", "--detach", "--wait"); err != nil {
		return fmt.Errorf("start the container: %w\n%s", err, out)
	}
	logs, err := startProcess(e.LogPath, e.composeEnv(), "docker", e.composeArgs("logs", "--no-color", "--follow")...)
	if err != nil {
		return err
	}
	e.stop = func() error { return errors.Join(logs.stop(), e.down()) } //nolint:contextcheck // down has its own time limit, because the start's may have ended
	return logs.await(ctx, e.URL+"/_localstack/health", startTimeout)
}

// down removes the container and its volumes. down has its own time limit,
// because the start's context may have ended.
func (e *Emulator) down() error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if out, err := e.compose(ctx, "down", "--volumes"); err != nil {
		return fmt.Errorf("remove the container: %w\n%s", err, out)
	}
	return nil
}

// compose runs one docker compose command and returns the output.
func (e *Emulator) compose(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "docker", e.composeArgs(args...)...)
	cmd.Env = e.composeEnv()
	out, err := cmd.CombinedOutput()
	if err != nil {
		return string(bytes.TrimSpace(out)), fmt.Errorf("docker compose %s: %w", args[0], err)
	}
	return string(bytes.TrimSpace(out)), nil
}

func (e *Emulator) composeArgs(args ...string) []string {
	file := filepath.Join(e.opts.Root, "localstack", "compose.yaml")
	return append([]string{"compose", "-f", file, "-p", "surehook-" + strconv.Itoa(e.Port)}, args...)
}

func (e *Emulator) composeEnv() []string {
	env := e.opts.Env
	if env == nil {
		env = os.Environ()
	}
	return append(env[:len(env):len(env)], "LOCALSTACK_PORT="+strconv.Itoa(e.Port))
}
