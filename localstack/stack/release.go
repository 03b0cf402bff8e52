package stack

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
)

const (
	assetsBucket  = "surehook-releases"
	releasePortal = "A portal of a release" // given to the first release alone
)

// releases deploys the releases one after the other, as their users do. Each must bring its
// functions, and keep the parameter of the first.
func (d *deployment) releases(ctx context.Context) error {
	env, err := d.releaseEnv()
	if err != nil {
		return err
	}
	bucket := step{title: "make a bucket", env: env, commands: [][]string{{"aws", "s3", "mb", "s3://" + assetsBucket}}}
	if err := d.run(ctx, bucket); err != nil {
		return err
	}
	deploy := []string{"./deploy.sh", "--bucket", assetsBucket, "--environment", "local"}
	parameters := []string{"PortalName=" + releasePortal}
	for _, folder := range d.opts.Releases {
		s := step{title: "deploy.sh of " + filepath.Base(folder), dir: folder, env: env, commands: [][]string{slices.Concat(deploy, parameters)}}
		if err := d.run(ctx, s); err != nil {
			return err
		}
		if err := d.checkRelease(ctx, filepath.Join(d.opts.Root, folder)); err != nil {
			return fmt.Errorf("deploy the release %s: %w", folder, err)
		}
		parameters = nil
	}
	return nil
}

// releaseEnv is the environment of deploy.sh. The name of the API does not resolve here, and the
// emulator's admin key is not one before [Deploy] replaces it: curl answers as the API will.
func (d *deployment) releaseEnv() ([]string, error) {
	folder := filepath.Join(d.work, "bin")
	if err := os.MkdirAll(folder, 0o750); err != nil {
		return nil, fmt.Errorf("make %s: %w", folder, err)
	}
	if err := os.WriteFile(filepath.Join(folder, "curl"), []byte("#!/bin/sh\nprintf 403\n"), 0o700); err != nil {
		return nil, fmt.Errorf("write curl: %w", err)
	}
	return append(d.emulator.ClientEnv(), "PATH="+folder+string(os.PathListSeparator)+os.Getenv("PATH")), nil
}

// checkRelease compares the deployed functions with the archives in the folder.
func (d *deployment) checkRelease(ctx context.Context, folder string) error {
	got, err := lambda.NewFromConfig(awsConfig(d.emulator)).ListFunctions(ctx, &lambda.ListFunctionsInput{})
	if err != nil {
		return fmt.Errorf("list the functions: %w", err)
	}
	var wrong []error
	found := 0
	for _, f := range got.Functions {
		name, ours := strings.CutPrefix(aws.ToString(f.FunctionName), Name+"-")
		if !ours {
			continue
		}
		found++
		archive, err := os.ReadFile(filepath.Join(folder, name+".zip"))
		if err != nil {
			return fmt.Errorf("read the archive: %w", err)
		}
		if sum := sha256.Sum256(archive); aws.ToString(f.CodeSha256) != base64.StdEncoding.EncodeToString(sum[:]) {
			wrong = append(wrong, fmt.Errorf("the function %s has other code than its archive", name))
		}
		if portal := f.Environment.Variables["SUREHOOK_PORTAL_NAME"]; name == "manage" && portal != releasePortal {
			wrong = append(wrong, fmt.Errorf("PortalName is %q; want %q from the first deployment", portal, releasePortal))
		}
	}
	if found < 2 {
		wrong = append(wrong, fmt.Errorf("the stack has %d functions", found))
	}
	return errors.Join(wrong...)
}
