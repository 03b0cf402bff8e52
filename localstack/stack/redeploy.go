package stack

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"surehook.example/surehook/localstack/emulator"
)

// Template is a template of CloudFormation.
type Template map[string]any

// Redeploy deploys another version of the stack after Deploy: the template of Deploy, as
// edit changes it. The functions are the same.
func Redeploy(ctx context.Context, e *emulator.Emulator, opts Options, title string, edit func(Template) error) error {
	d, err := openDeployment(ctx, e, opts)
	if err != nil {
		return fmt.Errorf("redeploy the stack: %w", err)
	}
	if err := d.edit(edit); err != nil {
		return fmt.Errorf("redeploy the stack: %w", err)
	}
	deploy := []string{
		d.cdk(), "deploy", Name, "--exclusively", "--app", d.assembly(), "--require-approval", "never", "--no-notices",
		"--progress", "events",
	}
	if err := d.run(ctx, step{title: title, dir: "infra", env: d.cdkEnv(), commands: [][]string{deploy}}); err != nil {
		return fmt.Errorf("redeploy the stack: %w", err)
	}
	return nil
}

// edit writes the edited template under a new name of its asset: cdk does not upload an
// asset with a known name.
func (d *deployment) edit(edit func(Template) error) error {
	file := filepath.Join(d.assembly(), Name+".template.json")
	original, err := os.ReadFile(file + ".original")
	if errors.Is(err, fs.ErrNotExist) {
		if original, err = os.ReadFile(file); err == nil {
			err = os.WriteFile(file+".original", original, 0o600)
		}
	}
	if err != nil {
		return fmt.Errorf("read the template: %w", err)
	}
	var template Template
	if err := json.Unmarshal(original, &template); err != nil {
		return fmt.Errorf("read the template: %w", err)
	}
	if err := edit(template); err != nil {
		return fmt.Errorf("edit the template: %w", err)
	}
	edited, err := json.Marshal(template)
	if err != nil {
		return fmt.Errorf("write the template: %w", err)
	}
	if err := os.WriteFile(file, edited, 0o600); err != nil {
		return fmt.Errorf("write the template: %w", err)
	}
	return d.rename(filepath.Base(file), edited)
}

// rename gives the asset of the template the hash of its content.
func (d *deployment) rename(file string, content []byte) error {
	manifest := filepath.Join(d.assembly(), Name+".assets.json")
	raw, err := os.ReadFile(manifest)
	if err != nil {
		return fmt.Errorf("read the assets: %w", err)
	}
	var assets struct {
		Files map[string]struct {
			Source struct {
				Path string `json:"path"`
			} `json:"source"`
		} `json:"files"`
	}
	if err := json.Unmarshal(raw, &assets); err != nil {
		return fmt.Errorf("read the assets: %w", err)
	}
	sum := sha256.Sum256(content)
	for hash, asset := range assets.Files {
		if asset.Source.Path != file {
			continue
		}
		for _, path := range []string{manifest, filepath.Join(d.assembly(), "manifest.json")} {
			text, err := os.ReadFile(path)
			if err == nil {
				err = os.WriteFile(path, []byte(strings.ReplaceAll(string(text), hash, hex.EncodeToString(sum[:]))), 0o600)
			}
			if err != nil {
				return fmt.Errorf("rename the asset of the template: %w", err)
			}
		}
		return nil
	}
	return fmt.Errorf("rename the asset of the template: %s lists no %s", manifest, file)
}

func (d *deployment) assembly() string { return filepath.Join(d.work, "cdk.out") }
