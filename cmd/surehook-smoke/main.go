// Command surehook-smoke proves a deployment on AWS from outside, and removes
// what it made. See docs/deploying.md.
//
//	surehook-smoke -stack surehook-dev [-long]
//	surehook-smoke -template
//
// Credentials and region come from the environment, as for the AWS CLI. The exit
// code is 1 when a check failed, 2 when the deployment was not found.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/aws/aws-sdk-go-v2/config"

	"surehook/internal/smoke"
)

// The exit codes beside 0.
const (
	failed = 1
	broken = 2
)

func main() {
	stack := flag.String("stack", "", "the deployment's stack, such as surehook-dev")
	long := flag.Bool("long", false, "wait for a schedule beyond 15 minutes: 17 minutes")
	template := flag.Bool("template", false, "print the template of the receiver's stack, and do nothing else")
	flag.Parse()
	if *template {
		os.Exit(printTemplate(os.Stdout))
	}
	// The first Ctrl-C ends the checks; the removal then takes about a minute.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	os.Exit(run(ctx, *stack, *long))
}

func run(ctx context.Context, stack string, long bool) (code int) {
	if stack == "" {
		fmt.Fprintln(os.Stderr, "surehook-smoke: say which deployment: -stack surehook-dev")
		return broken
	}
	// Ctrl-C must not end a request of the removal, so the client has no deadline of ctx.
	cfg, err := config.LoadDefaultConfig(ctx, config.WithRetryMaxAttempts(retries))
	if err != nil {
		fmt.Fprintln(os.Stderr, "surehook-smoke: read the AWS configuration:", err)
		return broken
	}
	results, err := smoke.Run(ctx, smoke.Options{
		Stack: stack, AWS: cfg, HTTP: &http.Client{}, Latency: smoke.DefaultLatency(), Long: long, Out: os.Stdout, Now: time.Now,
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, "surehook-smoke:", err)
		return broken
	}
	if smoke.Failed(results) {
		return failed
	}
	return 0
}

// retries is the number of tries of a request to AWS: IAM's simulator answers
// some calls a second.
const retries = 8

func printTemplate(out io.Writer) (code int) {
	text, err := smoke.Template()
	if err == nil {
		_, err = fmt.Fprintln(out, text)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "surehook-smoke:", err)
		return broken
	}
	return 0
}
