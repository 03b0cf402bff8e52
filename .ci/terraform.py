"""Checks the Terraform module in a folder against the template of a release.

Usage: terraform.py FOLDER TEMPLATE. It parses every file, and looks for variables that are not
declared or not used, and for parameters and outputs that the template lacks. It does not know
the types of Terraform and of the provider.
"""

import json
import re
import sys
from pathlib import Path

import hcl2

folder, template = Path(sys.argv[1]), json.loads(Path(sys.argv[2]).read_text())
text, declared, resources, others = "", set(), [], []
for file in sorted(folder.glob("*.tf")):
    text += file.read_text()
    module = hcl2.loads(file.read_text())
    declared |= {name.strip('"') for block in module.get("variable", []) for name in block}
    others += [name for block in module.get("variable", []) for validation in block.get('"parameters"', {}).get("validation", []) for name in re.findall(r'"([A-Z]\w+)"', str(validation["condition"]))]
    resources += [(name.strip('"'), body) for block in module.get("resource", []) for name, named in block.items() for body in named.values()]

used = set(re.findall(r"\bvar\.(\w+)", text))
parameters = re.findall(r"^ +([A-Z]\w+) +=", text, re.MULTILINE)
outputs = re.findall(r'outputs(?:\["|, ")(\w+)"', text)
required = [name for name, parameter in template["Parameters"].items() if "Default" not in parameter]

faults = [f"the variable {name} is not declared" for name in sorted(used - declared)]
faults += [f"nothing uses the variable {name}" for name in sorted(declared - used)]
faults += [f"the template has no parameter {name}" for name in parameters if name not in template["Parameters"]]
faults += [f"the template needs the parameter {name}" for name in required if name not in parameters]
faults += [f"the module does not know the parameter {name}" for name in template["Parameters"] if name not in parameters + others]
faults += [f"the module takes {name}, and the template does not" for name in others if name not in template["Parameters"]]
faults += [f"the template has no output {name}" for name in outputs if name not in template["Outputs"]]
if (kinds := [kind for kind, _ in resources]) != ["aws_cloudformation_stack"]:
    faults.append(f"the resources are {kinds}; want one stack of CloudFormation")
faults += [f"{kind} has the block {name} more than once" for kind, body in resources for name in ("lifecycle", "timeouts") if len(body.get(name, [])) > 1]
for fault in faults:
    print(f"{folder}: {fault}")
if faults:
    sys.exit(1)
print(f"{folder}: {len(declared)} variables, {len(parameters)} parameters and {len(outputs)} outputs fit the template")
