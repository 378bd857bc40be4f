#!/usr/bin/env python3
"""manifests.py - checks config/kubernetes, without a cluster.

  manifests.py [DIRECTORY]         checks what the class in DIRECTORY (config/kubernetes/class unless given) comes to
  manifests.py --pod LEARNER       prints what `podman kube play` can run of it: volumes, settings and the pod of one learner

Kustomize is not in Debian 12, so the few of its fields that we use are applied here; with kubectl on this machine its own result must be the
same. Then every rule must object to a class in which it is broken. Prints what is wrong and exits 1, or 77 without python3-yaml.
"""
import base64, copy, json, os, re, shutil, subprocess, sys

try:
    import yaml
except ImportError:
    print("python3-yaml is not installed: run scripts/setup --test")
    sys.exit(77)

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
CLASS = os.path.join(TOP, "config/kubernetes/class")
KNOWN = {"apiVersion", "kind", "resources", "namespace", "nameSuffix", "labels", "images", "configMapGenerator", "secretGenerator"}


# ---- what kustomize does ----

def generate(kind, spec, directory):
    lines = list(spec.get("literals", []))
    for name in spec.get("envs", []):
        with open(os.path.join(directory, name)) as file:
            lines += [line.strip() for line in file if line.strip() and not line.startswith("#")]
    field = "stringData" if kind == "Secret" else "data"
    return {"apiVersion": "v1", "kind": kind, "metadata": {"name": spec["name"]}, field: dict(line.split("=", 1) for line in lines)}


def pods(objects):
    return [o["spec"]["template"] for o in objects if o["kind"] == "StatefulSet"]


def references(template):
    """Each {"name": ...} by which the containers of a pod name a Secret or a ConfigMap."""
    for container in template["spec"]["containers"]:
        for source in container.get("envFrom", []):
            for field, kind in (("secretRef", "Secret"), ("configMapRef", "ConfigMap")):
                if field in source:
                    yield kind, source[field]


def rename(objects, suffix):
    names = {(o["kind"], o["metadata"]["name"]) for o in objects}
    for template in pods(objects):
        for kind, reference in references(template):
            if (kind, reference["name"]) in names:
                reference["name"] += suffix
    for o in objects:
        if o["kind"] == "StatefulSet" and ("Service", o["spec"]["serviceName"]) in names:
            o["spec"]["serviceName"] += suffix
    for o in objects:
        o["metadata"]["name"] += suffix


def label(objects, pairs):
    for o in objects:
        spec = o.get("spec", {})
        places = [o["metadata"].setdefault("labels", {})]
        if o["kind"] == "StatefulSet":
            places += [spec["selector"]["matchLabels"], spec["template"]["metadata"]["labels"]]
            places += [claim["metadata"].setdefault("labels", {}) for claim in spec["volumeClaimTemplates"]]
        if o["kind"] == "Service":
            places.append(spec["selector"])
        if o["kind"] == "NetworkPolicy":
            places.append(spec["podSelector"]["matchLabels"])
        for place in places:
            place.update(pairs)


def load(path):
    with open(path) as file:
        return list(yaml.safe_load_all(file))


def render(directory):
    """The objects of a kustomization, without the hashes that kustomize appends to generated names."""
    (k,) = load(os.path.join(directory, "kustomization.yaml"))
    unknown = set(k) - KNOWN
    if unknown:
        sys.exit(f"{directory}/kustomization.yaml: this test does not know {', '.join(sorted(unknown))}; teach it render()")
    objects = []
    for name in k.get("resources", []):
        path = os.path.normpath(os.path.join(directory, name))
        objects += render(path) if os.path.isdir(path) else load(path)
    for kind, field in (("ConfigMap", "configMapGenerator"), ("Secret", "secretGenerator")):
        for spec in k.get(field, []):
            made = generate(kind, spec, directory)
            old = [o for o in objects if o["kind"] == kind and o["metadata"]["name"] == spec["name"]]
            if spec.get("behavior") == "merge":
                old[0]["data"].update(made["data"])
            else:
                objects.append(made)
    for change in k.get("labels", []):
        label(objects, change["pairs"])
    rename(objects, k.get("nameSuffix", ""))
    for template in pods(objects):
        for container in template["spec"]["containers"]:
            for image in k.get("images", []):
                if container["image"] == image["name"]:
                    container["image"] = f"{image['newName']}:{image['newTag']}"
    for o in objects:
        if "namespace" in k and o["kind"] != "Namespace":
            o["metadata"]["namespace"] = k["namespace"]
    return objects


def by_kustomize(directory):
    """The same by kubectl itself: without hashes, and with secrets in plain text."""
    result = subprocess.run(["kubectl", "kustomize", directory], capture_output=True, text=True, timeout=60)
    if result.returncode != 0:
        sys.exit(f"kubectl kustomize {directory}: {result.stderr.strip()}")
    objects = list(yaml.safe_load_all(result.stdout))
    hashed = {}
    for o in objects:
        if o["kind"] in ("ConfigMap", "Secret"):
            plain = re.sub(r"-[a-z0-9]{10}$", "", o["metadata"]["name"])
            hashed[o["kind"], o["metadata"]["name"]] = plain
            o["metadata"]["name"] = plain
        if o["kind"] == "Secret":
            o["stringData"] = {key: base64.b64decode(value).decode() for key, value in o.pop("data").items()}
            o.pop("type")
    for template in pods(objects):
        for kind, reference in references(template):
            reference["name"] = hashed[kind, reference["name"]]
    return objects


# ---- rules ----

def fits(selector, labels):
    return bool(selector) and selector.items() <= labels.items()


def check_pod(where, template):
    spec, (container,) = template["spec"], template["spec"]["containers"]
    pod, own = spec.get("securityContext", {}), container.get("securityContext", {})
    if not pod.get("runAsNonRoot") or not pod.get("runAsUser") or pod.get("seccompProfile", {}).get("type") != "RuntimeDefault":
        yield f"{where}: the profile restricted wants runAsNonRoot, a user and the seccomp profile RuntimeDefault"
    if own.get("allowPrivilegeEscalation") is not False or own.get("capabilities", {}).get("drop") != ["ALL"] or own.get("privileged"):
        yield f"{where}: the profile restricted wants no privileges and no capabilities"
    if not own.get("readOnlyRootFilesystem"):
        yield f"{where}: the root is not read-only"
    if any(spec.get(field) for field in ("hostNetwork", "hostPID", "hostIPC")) or any("hostPath" in v for v in spec.get("volumes", [])):
        yield f"{where}: the profile restricted allows nothing of the host"
    if spec.get("automountServiceAccountToken") is not False:
        yield f"{where}: the pod gets a token of the cluster, which it has no use for"
    ports = {port["name"]: port["containerPort"] for port in container["ports"]}
    for probe, path in (("startupProbe", "/ready"), ("readinessProbe", "/health")):
        get = container.get(probe, {}).get("httpGet", {})
        host = {h["name"]: h["value"] for h in get.get("httpHeaders", [])}.get("Host")
        if get.get("path") != path or get.get("port") not in ports or host != f"localhost:{ports.get(get.get('port'))}":
            yield f"{where}: {probe} has to get {path} at a port that exists, under the name localhost with that port"
    if not container.get("resources", {}).get("limits", {}).get("memory") or not container["resources"].get("requests"):
        yield f"{where}: no limit of memory, or no requests"


def check_set(o, objects):
    where, spec, template = f"StatefulSet {o['metadata']['name']}", o["spec"], o["spec"]["template"]
    labels, namespace = template["metadata"]["labels"], o["metadata"].get("namespace")
    beside = [other for other in objects if other["metadata"].get("namespace") == namespace]
    if spec["replicas"] != 1:
        yield f"{where}: a learner has one daemon"
    if not fits(spec["selector"]["matchLabels"], labels):
        yield f"{where}: its selector does not fit its pod"
    others = [t for t in pods(beside) if t is not template and fits(spec["selector"]["matchLabels"], t["metadata"]["labels"])]
    if others:
        yield f"{where}: its selector also takes the pod of another learner"
    services = [s for s in beside if s["kind"] == "Service" and s["metadata"]["name"] == spec["serviceName"]]
    ports = {port["name"] for port in template["spec"]["containers"][0]["ports"]}
    if not services or not fits(services[0]["spec"]["selector"], labels) or services[0]["spec"]["ports"][0]["targetPort"] not in ports:
        yield f"{where}: no service {spec['serviceName']} leads to a port of its pod"
    policies = [p for p in beside if p["kind"] == "NetworkPolicy" and fits(p["spec"]["podSelector"].get("matchLabels"), labels)]
    if not policies or set(policies[0]["spec"]["policyTypes"]) != {"Ingress", "Egress"}:
        yield f"{where}: no network policy restricts its pod both ways"
    elif any(not rule.get("from") or any(p["port"] not in ports for p in rule.get("ports", [])) for rule in policies[0]["spec"].get("ingress", [])):
        yield f"{where}: its network policy lets everybody in, or names a port that its pod does not have"
    for kind, reference in references(template):
        if not any(s["kind"] == kind and s["metadata"]["name"] == reference["name"] for s in beside):
            yield f"{where}: there is no {kind} {reference['name']}"
    volumes = {v["name"] for v in template["spec"].get("volumes", [])} | {c["metadata"]["name"] for c in spec["volumeClaimTemplates"]}
    mounts = {m["mountPath"]: m["name"] for m in template["spec"]["containers"][0]["volumeMounts"]}
    if set(mounts.values()) - volumes or not {"/data", "/project", "/tmp"} <= set(mounts):
        yield f"{where}: /data, /project and /tmp have to be volumes that exist"
    yield from check_pod(where, template)


def check(objects):
    names = [(o["kind"], o["metadata"]["name"]) for o in objects]
    for twice in {name for name in names if names.count(name) > 1}:
        yield f"{twice[0]} {twice[1]} is there twice"
    for o in objects:
        if o["kind"] == "Namespace" and o["metadata"]["labels"].get("pod-security.kubernetes.io/enforce") != "restricted":
            yield f"Namespace {o['metadata']['name']}: it does not enforce the profile restricted"
        if o["kind"] == "StatefulSet":
            yield from check_set(o, objects)


# ---- each rule broken once ----

def first(objects, kind):
    return next(o for o in objects if o["kind"] == kind)


def pod_of(objects):
    return first(objects, "StatefulSet")["spec"]["template"]["spec"]


FAULTS = {
    "runAsNonRoot": lambda o: pod_of(o)["securityContext"].pop("runAsNonRoot"),
    "seccomp": lambda o: pod_of(o)["securityContext"].pop("seccompProfile"),
    "capabilities": lambda o: pod_of(o)["containers"][0]["securityContext"].pop("capabilities"),
    "writable root": lambda o: pod_of(o)["containers"][0]["securityContext"].pop("readOnlyRootFilesystem"),
    "host network": lambda o: pod_of(o).update(hostNetwork=True),
    "cluster token": lambda o: pod_of(o).pop("automountServiceAccountToken"),
    "probe path": lambda o: pod_of(o)["containers"][0]["startupProbe"]["httpGet"].update(path="/metrics"),
    "probe port": lambda o: pod_of(o)["containers"][0]["readinessProbe"]["httpGet"].update(port="web"),
    "probe host": lambda o: pod_of(o)["containers"][0]["readinessProbe"]["httpGet"].pop("httpHeaders"),
    "memory": lambda o: pod_of(o)["containers"][0]["resources"].pop("limits"),
    "replicas": lambda o: first(o, "StatefulSet")["spec"].update(replicas=2),
    "selector": lambda o: first(o, "StatefulSet")["spec"]["selector"]["matchLabels"].update({"app.kubernetes.io/name": "other"}),
    "selector of all": lambda o: first(o, "StatefulSet")["spec"]["selector"]["matchLabels"].pop("app.kubernetes.io/instance"),
    "service": lambda o: first(o, "StatefulSet")["spec"].update(serviceName="other"),
    "service port": lambda o: first(o, "Service")["spec"]["ports"][0].update(targetPort="web"),
    "policy": lambda o: o.remove(first(o, "NetworkPolicy")),
    "policy for all": lambda o: first(o, "NetworkPolicy")["spec"]["ingress"][0].pop("from"),
    "secret": lambda o: o.remove(first(o, "Secret")),
    "settings": lambda o: o.remove(first(o, "ConfigMap")),
    "volume": lambda o: first(o, "StatefulSet")["spec"]["volumeClaimTemplates"].pop(),
    "namespace": lambda o: first(o, "Namespace")["metadata"]["labels"].clear(),
    "two of a name": lambda o: o.append(copy.deepcopy(first(o, "Service"))),
}


def unnoticed(objects):
    for name, fault in FAULTS.items():
        broken = copy.deepcopy(objects)
        fault(broken)
        if not list(check(broken)):
            yield f"no rule notices this fault: {name}"


# ---- a pod for podman ----

def as_pod(objects, learner):
    """Podman runs pods, and no sets: the same pod, and volumes by the names that the set would give them. It takes Secrets in base64 only."""
    o = next(o for o in objects if o["kind"] == "StatefulSet" and o["metadata"]["name"] == f"paige-{learner}")
    spec, template = o["spec"], o["spec"]["template"]
    wanted = {(kind, reference["name"]) for kind, reference in references(template)}
    result = [other for other in objects if (other["kind"], other["metadata"]["name"]) in wanted]
    for secret in (other for other in result if other["kind"] == "Secret"):
        secret["data"] = {key: base64.b64encode(value.encode()).decode() for key, value in secret.pop("stringData").items()}
    name = f"{o['metadata']['name']}-0"
    for claim in spec["volumeClaimTemplates"]:
        volume = f"{claim['metadata']['name']}-{name}"
        result.append({"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": volume}, "spec": claim["spec"]})
        template["spec"]["volumes"].append({"name": claim["metadata"]["name"], "persistentVolumeClaim": {"claimName": volume}})
    result.append({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "labels": template["metadata"]["labels"]}, "spec": template["spec"]})
    return result


def main():
    if sys.argv[1:2] == ["--pod"]:
        print("\n---\n".join(json.dumps(o) for o in as_pod(render(CLASS), sys.argv[2])))
        return 0
    directory = os.path.abspath(sys.argv[1]) if len(sys.argv) > 1 else CLASS
    objects = render(directory)
    wrong = list(check(objects)) or list(unnoticed(objects))
    if shutil.which("kubectl"):
        key = lambda o: (o["kind"], o["metadata"]["name"])
        ours, theirs = ({key(o): o for o in some} for some in (objects, by_kustomize(directory)))
        wrong += [f"{kind} {name}: kubectl kustomize makes something else of it" for kind, name in ours.keys() | theirs.keys()
                  if ours.get((kind, name)) != theirs.get((kind, name))]
    print("\n".join(wrong) or f"{len(objects)} objects are fine, {len(FAULTS)} faults are noticed")
    return 1 if wrong else 0


sys.exit(main())
