package main

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"surehook.example/surehook/internal/names"
)

// starts is the number of starts per function. The result is the median.
const starts = 20

// startLimit bounds one start.
const startLimit = 30 * time.Second

var errNotReady = errors.New("the function did not ask for work")

// functions measures the functions' binaries: the size, and the time from exec
// to the first request for work.
func functions(ctx context.Context) (string, error) {
	mains, err := filepath.Glob(filepath.Join("functions", "*", "main.go"))
	if err != nil || len(mains) == 0 {
		return "", errors.New("no functions found: run bench from the repository's folder")
	}
	folder, err := os.MkdirTemp("", "surehook-bench-")
	if err != nil {
		return "", fmt.Errorf("make a folder: %w", err)
	}
	defer os.RemoveAll(folder) //nolint:errcheck // the system clears its temporary folder
	api, err := startRuntime(ctx)
	if err != nil {
		return "", err
	}
	defer api.server.Close() //nolint:errcheck // the server has no more clients

	var rows [][]string
	for _, path := range mains {
		name := filepath.Base(filepath.Dir(path))
		row, err := coldStart(ctx, api, name, filepath.Join(folder, name))
		if err != nil {
			return "", fmt.Errorf("measure function %s: %w", name, err)
		}
		rows = append(rows, row)
	}
	return fmt.Sprintf("## Functions\n\nFrom exec to the first request to the runtime API, median of %d starts, %s/%s. "+
		"Lambda adds the time to fetch the code and to start a sandbox. Memory is resident at the first request.\n\n", starts, runtime.GOOS, runtime.GOARCH) +
		table([]string{"Function", "cold start", "memory", "zip", "binary"}, rows), nil
}

// coldStart measures one function, built to the file.
func coldStart(ctx context.Context, api *runtimeAPI, name, file string) ([]string, error) {
	if err := build(ctx, file, "./functions/"+name, "-trimpath", "-tags", "lambda.norpc", "-ldflags", "-s -w"); err != nil {
		return nil, err
	}
	binary, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("read the binary: %w", err)
	}
	zipped, err := zipSize(binary)
	if err != nil {
		return nil, err
	}
	var times []time.Duration
	var memories []int64
	for range starts {
		took, memory, err := api.start(ctx, file)
		if err != nil {
			return nil, err
		}
		times, memories = append(times, took), append(memories, memory)
	}
	slices.Sort(times)
	slices.Sort(memories)
	return []string{
		name, fmt.Sprintf("%.0f ms", float64(times[starts/2].Microseconds())/1000), megabytes(memories[starts/2]),
		fmt.Sprintf("%.1f MB", float64(zipped)/1e6), fmt.Sprintf("%.1f MB", float64(len(binary))/1e6),
	}, nil
}

// build builds the program in the folder to the file.
func build(ctx context.Context, file, folder string, flags ...string) error {
	command := exec.CommandContext(ctx, "go", slices.Concat([]string{"build", "-o", file}, flags, []string{folder})...)
	command.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("build %s: %w\n%s", folder, err, out)
	}
	return nil
}

// zipSize returns the size of the upload archive.
func zipSize(binary []byte) (int, error) {
	var b bytes.Buffer
	archive := zip.NewWriter(&b)
	f, err := archive.Create("bootstrap")
	if err == nil {
		_, err = f.Write(binary)
	}
	if err = errors.Join(err, archive.Close()); err != nil {
		return 0, fmt.Errorf("zip the binary: %w", err)
	}
	return b.Len(), nil
}

// start starts the function, and kills the function after the first request for
// work.
func (a *runtimeAPI) start(ctx context.Context, file string) (took time.Duration, memory int64, err error) {
	ctx, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	var output bytes.Buffer
	command := exec.CommandContext(ctx, file)
	command.Env = functionEnvironment(a.address)
	command.Stdout, command.Stderr = &output, &output
	began := time.Now()
	if err := command.Start(); err != nil {
		return 0, 0, fmt.Errorf("start: %w", err)
	}
	ended := make(chan struct{})
	go func() {
		_ = command.Wait() // the kill is the usual end
		close(ended)
	}()
	select {
	case at := <-a.asked:
		took = at.Sub(began)
		memory, err = resident(command.Process.Pid)
	case <-ended:
		err = fmt.Errorf("%w and ended:\n%s", errNotReady, &output)
	case <-ctx.Done():
		err = errNotReady
	}
	cancel()
	<-ended
	return took, memory, err
}

// functionEnvironment has the environment variables of all functions. The
// values refer to nothing.
func functionEnvironment(runtimeAPI string) []string {
	const account = "us-east-1:123456789012:"
	env := []string{
		"AWS_LAMBDA_FUNCTION_NAME=bench", "AWS_LAMBDA_FUNCTION_MEMORY_SIZE=512", "AWS_REGION=us-east-1",
		"AWS_ACCESS_KEY_ID=none", "AWS_SECRET_ACCESS_KEY=none",
		"AWS_LAMBDA_RUNTIME_API" + "=" + runtimeAPI,
		"SUREHOOK_ENVIRONMENT" + "=bench",
		names.EnvGarbage + "=" + names.CollectAt,
		"SUREHOOK_TABLE" + "=surehook",
		"SUREHOOK_KMS_KEY_ARN" + "=arn:aws:kms:" + account + "key/1234abcd-12ab-34cd-56ef-1234567890ab",
		"SUREHOOK_ADMIN_KEY_SECRET_ARN" + "=arn:aws:secretsmanager:" + account + "secret:admin-a1b2c3",
		"SUREHOOK_TOPIC_ARN" + "=arn:aws:sns:" + account + "surehook",
		"SUREHOOK_SCHEDULE_GROUP" + "=surehook",
		"SUREHOOK_SCHEDULE_ROLE_ARN" + "=arn:aws:iam::123456789012:role/surehook",
		"SUREHOOK_RETENTION" + "=2160h",
		"SUREHOOK_ENVELOPE" + "=" + names.EnvelopeStandard,
		"SUREHOOK_EGRESS" + "=" + names.EgressPublic,
		"SUREHOOK_API_HOSTS" + "=a1b2c3d4e5.execute-api.us-east-1.amazonaws.com",
		"SUREHOOK_RETRY_QUEUE_ARN" + "=arn:aws:sqs:" + account + "retry",
		"SUREHOOK_TENANT_SHARES" + "=5",
		"SUREHOOK_TENANT_PATH" + "=detail.tenant",
		"SUREHOOK_TRACES" + "=" + names.TracesXRay,
		"SUREHOOK_VALIDATION" + "=" + names.ValidationOff,
		"SUREHOOK_UNDELIVERABLE_RETRY_ARN" + "=arn:aws:sqs:" + account + "undeliverable-retry",
	}
	for _, queue := range []string{
		"SUREHOOK_EVENTS_QUEUE_URL", "SUREHOOK_REJECTS_QUEUE_URL", "SUREHOOK_LIVE_QUEUE_URL", "SUREHOOK_RETRY_QUEUE_URL", "SUREHOOK_REPLAY_QUEUE_URL", "SUREHOOK_REPLAY_JOBS_URL", "SUREHOOK_CIRCUITS_QUEUE_URL",
		"SUREHOOK_DEAD_LETTERS_URL", "SUREHOOK_UNDELIVERABLE_URL", "SUREHOOK_UNDELIVERABLE_RETRY_URL", "SUREHOOK_SLOT_QUEUE_URL", "SUREHOOK_OVERFLOW_QUEUE_URL", "SUREHOOK_COALESCE_QUEUE_URL",
	} {
		env = append(env, queue+"=https://sqs.us-east-1.amazonaws.com/123456789012/"+queue) // the name tells the queue
	}
	return env
}

// resident returns the process's resident memory in bytes.
func resident(pid int) (int64, error) {
	out, err := exec.Command("ps", "-o", "rss=", "-p", strconv.Itoa(pid)).Output() //nolint:noctx // ps ends at once
	if err != nil {
		return 0, fmt.Errorf("ask for the memory of process %d: %w", pid, err)
	}
	kilobytes, err := strconv.ParseInt(strings.TrimSpace(string(out)), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("ask for the memory of process %d: ps says %q", pid, out)
	}
	return kilobytes << 10, nil
}

func megabytes(n int64) string { return fmt.Sprintf("%.0f MB", float64(n)/1e6) }
